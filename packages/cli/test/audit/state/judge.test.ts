import { expect, test } from 'vitest';
import type { AuditContext, Pause } from '../../../src/audit/attack.js';
import { outcomeOf } from '../../../src/audit/outcome.js';
import { judge } from '../../../src/audit/state/judge.js';
import type { JsonObject, WireReply } from '../../../src/audit/wire/message.js';

const request = { method: 'tools/call', params: {}, caller: 'main' } as const;

const pauses = ['to', 'amount', 'confirm'].map((key, index): Pause => ({
  round: index + 1,
  caller: 'main',
  request,
  reply: { serverRequests: [], ms: 1 },
  state: 's',
  questions: { [key]: { method: 'elicitation/create', params: {} } },
  answers: {},
}));

const asking = (key: string): JsonObject => ({
  resultType: 'input_required',
  inputRequests: { [key]: { method: 'elicitation/create', params: {} } },
});

function verdictOf(reply: Partial<WireReply>): string {
  const [, second] = pauses;
  if (second === undefined) throw new Error('There are three.');
  const whole = { serverRequests: [], ms: 1, ...reply };
  const honest = { pauses } as unknown as AuditContext['honest'];
  const { verdict, severity = '' } = judge(
    { honest } as AuditContext,
    second,
    { request, reply: whole, outcome: outcomeOf(whole) },
    { taken: 'critical', fresh: 'medium' },
  );
  return `${verdict} ${severity}`.trim();
}

test.for([
  ['an error', { error: { code: -32_602, message: '' } }, 'safe'],
  ['a status that refuses', { status: 401 }, 'safe'],
  ["an error of the tool's", { result: { isError: true } }, 'safe'],
  ['the end of the flow', { result: { resultType: 'complete' } }, 'broken critical'],
  ['a task', { result: { resultType: 'task' } }, 'broken critical'],
  ['the next question', { result: asking('confirm') }, 'broken critical'],
  ['the same question (STATE-03)', { result: asking('amount') }, 'weak medium'],
  ['the first question (STATE-03)', { result: asking('to') }, 'weak medium'],
  ['an internal error', { error: { code: -32_603, message: '' } }, 'weak low'],
  ['a status of 500', { status: 500 }, 'weak low'],
  ['too many requests, which says nothing of the state', { status: 429 }, 'unclear'],
  ['a gateway without its server', { status: 503, error: { code: -32_000, message: '' } }, 'unclear'],
  ['no answer in time', { failure: 'no answer in 5 s' }, 'unclear'],
] as const)('%s', ([, reply, verdict]) => {
  expect(verdictOf(reply)).toBe(verdict);
});
