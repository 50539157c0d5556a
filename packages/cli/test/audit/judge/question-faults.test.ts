import { expect, it } from 'vitest';
import { faultsOfQuestion } from '../../../src/audit/judge/question-faults.js';
import type { Json } from '../../../src/audit/wire/message.js';

const form = (properties: Json): Json => ({
  method: 'elicitation/create',
  params: { message: 'Well?', requestedSchema: { type: 'object', properties } },
});

it.each<[string, Json]>([
  ['a text', 'ask'],
  ['an unknown method (MRTR-S-06)', { method: 'ping', params: {} }],
  ['no params (CORE-07)', { method: 'elicitation/create' }],
  [
    'no message (FORM-05)',
    { method: 'elicitation/create', params: { mode: 'url', url: 'https://example.com' } },
  ],
  ['no schema (FORM-07)', { method: 'elicitation/create', params: { message: 'Well?' } }],
  ['an unknown mode', { method: 'elicitation/create', params: { message: 'Well?', mode: 'voice' } }],
  ['a nested field (FORM-08)', form({ where: { type: 'object', properties: {} } })],
  ['sampling without messages (SAMP-07)', { method: 'sampling/createMessage', params: { maxTokens: 5 } }],
])('%s is of no use to clients', (_name, question) => {
  expect(faultsOfQuestion(question).map(([severity]) => severity)).toContain('medium');
});

it.each<[string, Json]>([
  ['an id', { id: 1, method: 'roots/list' }],
  ['a format of its own (FORM-09)', form({ id: { type: 'string', format: 'uuid' } })],
  ['a list without choices (FORM-14)', form({ tags: { type: 'array', items: { type: 'string' } } })],
])('%s is a small fault', (_name, question) => {
  expect(faultsOfQuestion(question).map(([severity]) => severity)).toEqual(['low']);
});

it.each<[string, Json]>([
  ['roots', { method: 'roots/list' }],
  ['a form without mode (FORM-06)', form({ name: { type: 'string', title: 'Name' } })],
  ['several choices', form({ tags: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } } })],
])('%s is as the schema wants it', (_name, question) => {
  expect(faultsOfQuestion(question)).toEqual([]);
});
