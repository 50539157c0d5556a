import type { Attack } from '../attack.js';
import type { Attempt } from '../judge/attempt.js';
import { judgeRefusal, tryWays } from '../judge/conclude.js';
import type { Judged } from '../judge/judged.js';

/** MRTR-S-14, STATE-15, GAP-09. */
export const stateOnlyRetry: Attack = {
  id: 'state-only-retry',
  title: 'A retry without answers',
  rule: 'MRTR, Error Handling: ask again when answers are missing (MRTR-S-14); FORM-27: do not assume success',
  severity: 'high',
  sends: 'The state of each round, once without inputResponses and once with an empty object.',
  safe: 'Asks the same again.',
  fix: 'Treat a missing answer as not given: return the same questions, with the same state or a new one.',
  run: (context) =>
    tryWays(
      context,
      () => [
        { name: 'no inputResponses', changes: () => ({ withoutAnswers: true }) },
        { name: 'empty inputResponses', changes: () => ({ answers: {} }) },
      ],
      judge,
      'Missing answers are asked for again.',
    ),
};

function judge(made: Attempt): Judged {
  if (made.isTaken) return { verdict: 'broken', severity: 'high', did: 'goes on without an answer' };
  const weak = (did: string): Judged => ({ verdict: 'weak', severity: 'low', did });
  if (made.place === 'refused' || made.place === 'tool-error')
    return weak('answers an error instead of asking again');
  if (made.place === 'earlier') return weak('begins the flow anew instead of asking again');
  return judgeRefusal(made);
}
