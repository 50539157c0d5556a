import { afterEach, describe, expect, it } from 'vitest';
import type { Severity } from '../../src/audit/attack.js';
import { ATTACKS } from '../../src/audit/attacks/index.js';
import { FAULTY_ANSWERS } from '../servers/faulty-answers.js';
import { FAULTY_BINDINGS } from '../servers/faulty-bindings.js';
import { FAULTY_PROTOCOL } from '../servers/faulty-protocol.js';
import { FAULTY_QUESTIONS } from '../servers/faulty-questions.js';
import { FAULTY_STATES } from '../servers/faulty-states.js';
import { startServer, type AuditedServer } from '../servers/harness.js';
import { auditTransfer, worstOf } from './auditing.js';
import { STATE_CAUGHT_BY } from './state-caught-by.js';

type Expected = Readonly<Record<string, Severity>>;

/** All that is found in each faulty server, beside notes. What else than its own fault is found has a reason. */
const FOUND: Readonly<
  Record<keyof typeof FAULTY_ANSWERS | keyof typeof FAULTY_PROTOCOL | keyof typeof FAULTY_QUESTIONS, Expected>
> = {
  'inherits-answers': { 'answers-polluting': 'medium' },
  // What was merged into its answers is there for the deep ones too, which it then takes and cannot write.
  'merges-answers': { 'answers-polluting': 'critical', 'state-oversized': 'low' },
  'any-action': { 'answers-of-wrong-kind': 'medium' },
  // It takes the deep ones, and then cannot write them.
  'unvalidated-answers': { 'answers-unchecked': 'medium', 'state-oversized': 'low' },
  'content-before-action': { 'declined-taken': 'high' },
  // Answers that are there and not known as such are answers that are not there.
  'silence-is-consent': { 'state-only-retry': 'high', 'unknown-answers': 'low' },
  // Arguments that nothing binds can also be changed into others that fit.
  'arguments-once': { 'arguments-unchecked': 'medium', 'state-other-arguments': 'high' },
  'no-other-answers': { 'unknown-answers': 'low' },
  // An empty answer is missing too.
  'missing-is-an-error': { 'state-only-retry': 'low', 'unknown-answers': 'low' },
  'never-takes-no': { 'endless-prompting': 'medium' },
  'growing-questions': { 'endless-prompting': 'medium' },
  'no-capability-check': { 'capabilities-withheld': 'high' },
  'capabilities-once': { 'capabilities-withheld': 'high' },
  'capability-error-as-200': { 'capabilities-withheld': 'low' },
  'asks-in-lists': { 'question-on-forbidden-method': 'medium' },
  'sends-requests': { 'server-requests': 'high' },
  'headers-once': { 'headers-on-retry': 'medium' },
  'meta-once': { 'meta-on-retry': 'low' },
  'telling-refusals': { 'refusal-tells': 'low' },
  'codes-tell': { 'refusal-tells': 'low' },
  'falls-over': { 'state-oversized': 'medium' },
  'walks-deep': { 'state-oversized': 'low' },
  'asks-password': { 'form-asks-secret': 'high' },
  'asks-card': { 'form-asks-secret': 'high' },
  'asks-api-key': { 'form-asks-secret': 'high' },
  'page-over-http': { 'url-question-unsafe': 'high' },
  'page-with-credentials': { 'url-question-unsafe': 'high' },
  'page-with-mail': { 'url-question-unsafe': 'medium' },
  'page-with-token': { 'url-question-unsafe': 'medium' },
  'interim-with-ttl': { 'interim-malformed': 'low' },
  'question-with-id': { 'interim-malformed': 'low' },
  'question-without-message': { 'interim-malformed': 'medium' },
  'nested-form': { 'interim-malformed': 'medium' },
};

const FAULTY_HERE = { ...FAULTY_ANSWERS, ...FAULTY_PROTOCOL, ...FAULTY_QUESTIONS };
const ALL_FAULTY = { ...FAULTY_HERE, ...FAULTY_STATES, ...FAULTY_BINDINGS };

const CAUGHT_BY: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(FOUND).flatMap(([name, found]) => Object.keys(found).map((id) => [id, name])),
  ),
  ...STATE_CAUGHT_BY,
};

let running: AuditedServer | undefined;
afterEach(() => running?.close());

describe('a faulty server', () => {
  it.each(Object.entries(FAULTY_HERE))('%s is found out, and nothing else of it', async (name, faults) => {
    running = await startServer(faults());
    expect(worstOf(await auditTransfer(running.url, ATTACKS))).toEqual(FOUND[name as keyof typeof FOUND]);
  });
});

describe('an attack', () => {
  it.each(ATTACKS.map((attack) => [attack.id, attack] as const))(
    '%s catches a server',
    async (id, attack) => {
      const name = CAUGHT_BY[id] ?? expect.unreachable(`no server is there for ${id}`);
      running = await startServer(ALL_FAULTY[name as keyof typeof ALL_FAULTY]());
      const found = await auditTransfer(running.url, [attack], id === 'no-expiry' ? 50 : undefined);
      expect(found.some(({ verdict }) => verdict === 'weak' || verdict === 'broken')).toBe(true);
    },
  );
});
