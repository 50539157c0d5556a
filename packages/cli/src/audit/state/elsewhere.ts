import type { AuditContext, Changes, Exchange, Finding, Pause } from '../attack.js';
import { questionsIn } from '../judge/questions.js';
import { pauseThatAsks, sameShape } from '../judge/questions.js';
import { findingsOf, type Tried } from './findings.js';
import { hasState, type StatePause } from './trials.js';
import { went } from './judge.js';
import type { Judged } from '../judge/judged.js';

/**
 * Sends a state where it does not belong (STATE-07). What tells whether it counted there is the same request without
 * it: a place that asks nothing, or asks its own first questions either way, has not used it.
 *
 * @param places What to change, with words for the report.
 */
export async function takenElsewhere(
  context: AuditContext,
  begun: StatePause,
  places: readonly (readonly [what: string, changes: Changes])[],
): Promise<readonly Finding[]> {
  const tried: Tried[] = [];
  for (const [what, changes] of places) {
    const pause = tried.length === 0 ? begun : await context.walkTo(begun.round);
    if (!hasState(pause)) break;
    const baseline = await context.retry(pause, { ...changes, withoutState: true });
    const exchange = await context.retry(pause, changes);
    tried.push({ what, exchange, judged: judgePlace(context, pause, exchange, baseline) });
  }
  return findingsOf(tried, begun.round);
}

function judgePlace(context: AuditContext, pause: Pause, exchange: Exchange, baseline: Exchange): Judged {
  const way = went(context, pause, exchange);
  if (way === 'refused') return { verdict: 'safe', did: 'refused' };
  if (way === 'silent') return { verdict: 'unclear', did: 'not answered' };
  if (way === 'crashed')
    return exchange.outcome.kind === baseline.outcome.kind
      ? { verdict: 'unclear', did: 'met with an internal error, with the state and without' }
      : { verdict: 'weak', severity: 'low', did: 'met with an internal error: refused by accident' };
  if (hadNoEffect(context, exchange, baseline))
    return { verdict: 'safe', did: 'answered as without a state' };
  return way === 'on'
    ? { verdict: 'broken', severity: 'high', did: 'taken: the answer is another than without the state' }
    : { verdict: 'weak', severity: 'low', did: 'asked again, where an error is due' };
}

function hadNoEffect({ honest }: AuditContext, exchange: Exchange, baseline: Exchange): boolean {
  if (exchange.outcome.kind !== baseline.outcome.kind) return false;
  if (exchange.outcome.kind !== 'asked') return true;
  const [withState, without] = [questionsIn(exchange.reply.result), questionsIn(baseline.reply.result)];
  return (
    sameShape(withState, without) &&
    pauseThatAsks(withState, honest.pauses) === pauseThatAsks(without, honest.pauses)
  );
}
