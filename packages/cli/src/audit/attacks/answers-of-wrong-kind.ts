import type { Attack, Pause } from '../attack.js';
import { answerAll } from '../judge/attempt.js';
import { judgeTaken, tryWays, type Way } from '../judge/conclude.js';
import type { JsonObject } from '../wire/message.js';

const SAMPLED = { role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'audit' };

/** MRTR-S-11, CORE-10, GAP-10, GAP-14. */
export const answersOfWrongKind: Attack = {
  id: 'answers-of-wrong-kind',
  title: 'Answers of another kind than was asked for',
  rule: 'MRTR, Error Handling: check that inputResponses is well formed (MRTR-S-11); schema, InputResponse is untagged (CORE-10)',
  severity: 'medium',
  sends:
    'Texts, numbers, null and lists for answers; actions that do not exist; the answer of another kind of question.',
  safe: 'Asks again, or answers an error.',
  fix: 'Check the kind of every answer against the question that stands in the state before you use it.',
  run: (context) =>
    tryWays(context, waysOf, judgeTaken('medium'), 'Answers of another kind are asked again or refused.'),
};

function waysOf(pause: Pause): readonly Way[] {
  const each = (name: string, answer: (honest: JsonObject) => unknown): Way => ({
    name,
    changes: (at) => ({ answers: answerAll(at, answer) }),
  });
  const whole = (name: string, answers: unknown): Way => ({ name, changes: () => ({ answers }) });
  const elicited = Object.values(pause.questions).every(({ method }) => method === 'elicitation/create');
  return [
    whole('null for inputResponses', null),
    whole('a text for inputResponses', 'accept'),
    whole('a list for inputResponses', Object.values(pause.answers)),
    each('a text for an answer', () => 'accept'),
    each('a number for an answer', () => 1),
    each('true for an answer', () => true),
    each('null for an answer', () => null),
    each('a list for an answer', (honest) => [honest]),
    each('an empty answer', () => ({})),
    ...(elicited
      ? [
          each('an answer without an action', ({ action: _action, ...rest }) => rest),
          each('an unknown action', (honest) => ({ ...honest, action: 'approve' })),
          each('an action in capitals', (honest) => ({ ...honest, action: 'ACCEPT' })),
          each('an action that is no text', (honest) => ({ ...honest, action: true })),
          each('an answer to sampling', () => SAMPLED),
          each('an answer to roots', () => ({ roots: [] })),
        ]
      : [each('an answer to a form', () => ({ action: 'accept', content: {} }))]),
  ];
}
