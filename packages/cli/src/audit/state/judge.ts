import type { AuditContext, Changes, Exchange, Pause, Severity } from '../attack.js';
import type { Judged } from '../judge/judged.js';
import { pauseThatAsks, questionsIn } from '../judge/questions.js';

/** How bad it is, by what the server did with a state that it must not take. */
export interface Scale {
  /** It went on: the flow ended, or the next round began. */
  readonly taken: Severity;
  /** It began anew, as if no state had come. */
  readonly fresh: Severity;
}

/** Where the server went, seen from the round of a pause. */
export type Went = 'refused' | 'on' | 'again' | 'crashed' | 'silent';

/** Reads what came of a retry as the way the flow went. */
export function went({ honest }: AuditContext, pause: Pause, { outcome, reply }: Exchange): Went {
  switch (outcome.kind) {
    case 'refused':
    case 'tool-error':
      return 'refused';
    case 'done':
    case 'task':
      return 'on';
    case 'failed':
      return outcome.isInternal ? 'crashed' : 'silent';
    case 'asked':
      return pauseThatAsks(questionsIn(reply.result), honest.pauses) >= pause.round ? 'on' : 'again';
  }
}

/** Judges a retry with a state, or in circumstances, that the server must refuse. */
export function judge(context: AuditContext, pause: Pause, exchange: Exchange, scale: Scale): Judged {
  switch (went(context, pause, exchange)) {
    case 'refused':
      return { verdict: 'safe', did: 'refused' };
    case 'on':
      return {
        verdict: 'broken',
        severity: scale.taken,
        did: exchange.outcome.kind === 'asked' ? 'taken: the next round began' : 'taken: the flow ended',
      };
    case 'again':
      return { verdict: 'weak', severity: scale.fresh, did: 'asked again, where an error is due' };
    case 'crashed':
      return { verdict: 'weak', severity: 'low', did: 'met with an internal error: refused by accident' };
    case 'silent':
      return { verdict: 'unclear', did: `not answered${whyOf(exchange)}` };
  }
}

function whyOf({ outcome }: Exchange): string {
  return outcome.kind === 'failed' ? ` (${outcome.why})` : '';
}

/** Judges variants of the state's text (STATE-03). Many servers take an empty state for none, which harms nobody. */
export function judgeText(
  context: AuditContext,
): (pause: Pause, exchange: Exchange, trial: { readonly changes: Changes }) => Judged {
  return (pause, exchange, { changes }) =>
    judge(context, pause, exchange, { taken: 'critical', fresh: changes.state === '' ? 'note' : 'medium' });
}
