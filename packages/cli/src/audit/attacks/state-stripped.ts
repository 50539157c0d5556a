import type { Attack, AuditContext, Exchange, Pause } from '../attack.js';
import { judge, went } from '../state/judge.js';
import type { Judged } from '../judge/judged.js';
import { isConfirmation } from '../judge/questions.js';
import { inEachRound, tryAll } from '../state/trials.js';
import { merged } from './step-skipping.js';

/** Answers without a state prove nothing (STATE-15). */
export const stateStripped: Attack = {
  id: 'state-stripped',
  title: 'Answers without a state',
  rule: 'MRTR, Server Requirements 4 (STATE-15)',
  severity: 'high',
  sends: "A round's answers without the state, and the answers of all rounds at once without any.",
  safe: 'It begins anew with its first questions, or answers with an error.',
  fix: 'Tie each approval to the question in the state; without a state, treat the request as the first one.',
  run: (context) =>
    inEachRound(context, (pause) => {
      const all = context.honest.pauses;
      return tryAll(
        context,
        pause,
        (at) => [
          { what: 'the answers of this round', changes: { withoutState: true } },
          // With one round it is the same; and it is the same in every round.
          ...(at.round === 1 && all.length > 1
            ? [
                {
                  what: 'the answers of all rounds',
                  changes: { withoutState: true, answers: merged(all) } as const,
                },
              ]
            : []),
        ],
        (at, exchange, { changes }) =>
          judgeStripped(context, at, exchange, 'answers' in changes ? all : [at]),
      );
    }),
};

/** @param answered The rounds whose answers were sent. */
function judgeStripped(
  context: AuditContext,
  pause: Pause,
  exchange: Exchange,
  answered: readonly Pause[],
): Judged {
  const way = went(context, pause, exchange);
  if (way === 'refused') return { verdict: 'safe', did: 'refused' };
  if (way === 'again') return { verdict: 'safe', did: 'the flow began anew' };
  if (way !== 'on') return judge(context, pause, exchange, { taken: 'high', fresh: 'note' });
  const ended = exchange.outcome.kind !== 'asked';
  const confirmed = answered.some(({ questions }) => Object.values(questions).some(isConfirmation));
  if (confirmed && (ended || answered.length === 1))
    return { verdict: 'broken', severity: 'high', did: 'a confirmation counted that nobody had asked for' };
  // Data may come in advance, like arguments. What cannot is an answer whose round others had to come before.
  return pause.round > 1
    ? {
        verdict: 'broken',
        severity: 'high',
        did: ended ? 'the flow ended on answers alone' : 'the flow went on',
      }
    : { verdict: 'weak', severity: 'note', did: 'answers were taken before they were asked for' };
}
