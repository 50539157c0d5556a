import { expect, test } from 'vitest';
import type { Pause, Question } from '../../../src/audit/attack.js';
import { isConfirmation, pauseThatAsks } from '../../../src/audit/judge/questions.js';
import type { JsonObject } from '../../../src/audit/wire/message.js';

function form(message: string, properties: JsonObject): Question {
  return {
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties } },
  };
}

function pausesOf(...asked: readonly Record<string, Question>[]): readonly Pause[] {
  return asked.map((questions, index) => ({
    round: index + 1,
    caller: 'main',
    request: { method: 'tools/call', params: {}, caller: 'main' },
    reply: { serverRequests: [], ms: 1 },
    state: 's',
    questions,
    answers: {},
  }));
}

test('finds the round that asks for the same fields, whatever the words', () => {
  const pauses = pausesOf({ a: form('To?', { to: {} }) }, { a: form('How much?', { amount: {} }) });
  expect(pauseThatAsks({ a: form('How much to ben?', { amount: {} }) }, pauses)).toBe(1);
  expect(pauseThatAsks({ a: form('To?', { other: {} }) }, pauses)).toBe(-1);
  expect(pauseThatAsks({ b: form('To?', { to: {} }) }, pauses)).toBe(-1);
});

test('tells rounds that ask for the same fields apart by their words', () => {
  const yes = { yes: { type: 'boolean' } };
  const pauses = pausesOf(
    { ask: form('Send the invoice to ann?', yes) },
    { ask: form('Delete the draft of ann?', yes) },
  );
  expect(pauseThatAsks({ ask: form('Delete the draft of ben?', yes) }, pauses)).toBe(1);
  expect(pauseThatAsks({ ask: form('Send the invoice to ben?', yes) }, pauses)).toBe(0);
});

test.for([
  ['a yes or no', form('Pay?', { yes: { type: 'boolean' } }), true],
  ['a form without fields', form('Pay?', {}), true],
  [
    'a page to visit',
    { method: 'elicitation/create', params: { mode: 'url', url: 'https://example.com' } },
    false,
  ],
  ['a name', form('Who?', { name: { type: 'string' } }), false],
  ['several switches', form('Which?', { a: { type: 'boolean' }, b: { type: 'boolean' } }), false],
  ['a sampling', { method: 'sampling/createMessage', params: {} }, false],
] as const)('knows whether %s is a confirmation (STATE-15, URL-02)', ([, question, expected]) => {
  expect(isConfirmation(question)).toBe(expected);
});
