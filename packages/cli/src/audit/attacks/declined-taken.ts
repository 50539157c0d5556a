import type { Attack, Pause } from '../attack.js';
import { answerAll } from '../judge/attempt.js';
import { judgeTaken, tryWays, type Way } from '../judge/conclude.js';

/** FORM-27, FORM-18. */
export const declinedTaken: Attack = {
  id: 'declined-taken',
  title: 'A no that is taken for a yes',
  rule: 'Elicitation, Error Handling: handle decline and cancel, do not assume success (FORM-27)',
  severity: 'high',
  sends:
    'Answers with action decline and cancel, once bare and once with the content that an acceptance would have.',
  safe: 'Ends without the effect, or asks again.',
  fix: 'Look at the action before the content, and use content only of an answer whose action is accept.',
  run: (context) =>
    tryWays(
      context,
      waysOf,
      judgeTaken('high', 'takes the no for a yes and goes on'),
      'Declined and cancelled questions do not go on, with or without content.',
    ),
};

function waysOf(pause: Pause): readonly Way[] {
  const elicited = Object.values(pause.questions).every(({ method }) => method === 'elicitation/create');
  if (!elicited) return [];
  return ['decline', 'cancel'].flatMap((action) => [
    { name: action, changes: (at) => ({ answers: answerAll(at, () => ({ action })) }) },
    {
      name: `${action} with content`,
      changes: (at) => ({ answers: answerAll(at, (honest) => ({ ...honest, action })) }),
    },
  ]);
}
