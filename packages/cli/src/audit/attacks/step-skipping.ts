import type { Attack, AuditContext, Changes, Exchange, Pause } from '../attack.js';
import { questionsIn } from '../judge/questions.js';
import { judge, went } from '../state/judge.js';
import type { Judged } from '../judge/judged.js';
import { isConfirmation, pauseThatAsks } from '../judge/questions.js';
import { hasState, NO_STATE, notReached, tryAll } from '../state/trials.js';

/** Answers to questions that were not asked yet (STATE-15). */
export const stepSkipping: Attack = {
  id: 'step-skipping',
  title: 'Steps that were skipped',
  rule: 'MRTR, Server Requirements 4 (STATE-15)',
  severity: 'critical',
  sends:
    'With the state of the first round: the answers of all rounds at once, and those of the last round alone.',
  safe: 'It asks the next question; an answer to a question that was not asked confirms nothing.',
  fix: 'Take an answer only for a question that the state says was asked in the round before.',
  async run(context) {
    const { pauses } = context.honest;
    const first = pauses.find(({ state }) => state !== undefined);
    if (first === undefined) return NO_STATE;
    const later = pauses.slice(first.round);
    if (later.length === 0)
      return [{ verdict: 'not-applicable', found: 'The flow has one round; none can be skipped.' }];
    const pause = await context.walkTo(first.round);
    if (!hasState(pause)) return [notReached(first.round)];
    return tryAll(
      context,
      pause,
      ({ answers }) => [
        {
          what: 'with the answers of all rounds at once',
          changes: { answers: merged([{ answers }, ...later]) },
        },
        { what: 'with the answers of the last round alone', changes: { answers: merged(later.slice(-1)) } },
      ],
      (at, exchange) => judgeSkip(context, at, exchange, later),
    );
  },
};

/** Answers of several rounds; of two with one key, that of the earlier round. */
export function merged(rounds: readonly Pick<Pause, 'answers'>[]): Changes['answers'] {
  return Object.assign({}, ...rounds.toReversed().map(({ answers }) => answers));
}

/** Answers in advance may be welcome; a confirmation in advance is none. */
function judgeSkip(context: AuditContext, pause: Pause, exchange: Exchange, later: readonly Pause[]): Judged {
  const way = went(context, pause, exchange);
  if (way !== 'on' && way !== 'again')
    return judge(context, pause, exchange, { taken: 'critical', fresh: 'low' });
  const skipped = later.slice(0, skippedCount(context, pause, exchange));
  if (skipped.length === 0) return { verdict: 'safe', did: 'asked for what was not asked yet' };
  return skipped.some(({ questions }) => Object.values(questions).some(isConfirmation))
    ? {
        verdict: 'broken',
        severity: 'critical',
        did: 'a confirmation that was never asked for was taken as given',
      }
    : { verdict: 'weak', severity: 'note', did: 'questions that were never asked were passed over' };
}

/** How many of the later rounds the server did without. */
function skippedCount({ honest }: AuditContext, pause: Pause, { outcome, reply }: Exchange): number {
  if (outcome.kind !== 'asked') return honest.pauses.length - pause.round;
  return Math.max(0, pauseThatAsks(questionsIn(reply.result), honest.pauses) - pause.round);
}
