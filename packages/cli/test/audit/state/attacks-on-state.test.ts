import { afterEach, expect, test } from 'vitest';
import { SEVERITIES, type Attack, type Severity } from '../../../src/audit/attack.js';
import { audit } from '../../../src/audit/audit.js';
import { noExpiry } from '../../../src/audit/attacks/no-expiry.js';
import { replayAtOnce } from '../../../src/audit/attacks/replay-at-once.js';
import { replayInSequence } from '../../../src/audit/attacks/replay-in-sequence.js';
import { stateAnonymous } from '../../../src/audit/attacks/state-anonymous.js';
import { stateEdited } from '../../../src/audit/attacks/state-edited.js';
import { stateInvented } from '../../../src/audit/attacks/state-invented.js';
import { stateKind } from '../../../src/audit/attacks/state-kind.js';
import { stateOtherArguments } from '../../../src/audit/attacks/state-other-arguments.js';
import { stateOtherMethod } from '../../../src/audit/attacks/state-other-method.js';
import { stateOtherTool } from '../../../src/audit/attacks/state-other-tool.js';
import { stateOtherUser } from '../../../src/audit/attacks/state-other-user.js';
import { stateReadable } from '../../../src/audit/attacks/state-readable.js';
import { stateReencoded } from '../../../src/audit/attacks/state-reencoded.js';
import { stateRewritten } from '../../../src/audit/attacks/state-rewritten.js';
import { stateStripped } from '../../../src/audit/attacks/state-stripped.js';
import { statesEqual } from '../../../src/audit/attacks/states-equal.js';
import { stepSkipping } from '../../../src/audit/attacks/step-skipping.js';
import type { HeadersOfCallers } from '../../../src/audit/wire/http-headers.js';
import { HttpWire } from '../../../src/audit/wire/http-wire.js';
import type { Parts } from '../../servers/harness/parts.js';
import { FAULTY_BINDINGS } from '../../servers/faulty-bindings.js';
import { FAULTY_STATES } from '../../servers/faulty-states.js';
import { startServer, type AuditedServer } from '../../servers/harness.js';

const ATTACKS: readonly Attack[] = [
  stateEdited,
  stateReencoded,
  stateInvented,
  stateKind,
  stateRewritten,
  stateOtherTool,
  stateOtherArguments,
  stateOtherMethod,
  stateOtherUser,
  stateAnonymous,
  stepSkipping,
  stateStripped,
  replayInSequence,
  replayAtOnce,
  noExpiry,
  stateReadable,
  statesEqual,
];

const CALLERS: HeadersOfCallers = {
  main: [['Authorization', 'Bearer alice']],
  other: [['Authorization', 'Bearer bob']],
};

/** The worst that each attack finds in a server. Attacks that find nothing are not listed. */
type Found = Readonly<Record<string, Severity>>;

const EXPECTED: Readonly<Record<keyof typeof FAULTY_STATES | keyof typeof FAULTY_BINDINGS, Found>> = {
  // What comes back is believed: edited, made up, changed.
  'unsigned-state': {
    'state-edited': 'critical',
    'state-invented': 'critical',
    'state-rewritten': 'critical',
    'state-reencoded': 'note',
    'state-readable': 'note',
  },
  // Nothing in it says whose and what for it is, and all flows share it. Flipped bits make other fields of it.
  'state-is-a-step': {
    'state-invented': 'critical',
    'state-rewritten': 'critical',
    'state-reencoded': 'note',
    'state-readable': 'note',
    'states-equal': 'medium',
    'state-other-user': 'critical',
    'state-anonymous': 'critical',
    'state-other-arguments': 'high',
    'state-other-tool': 'high',
    'state-other-method': 'high',
    'replay-in-sequence': 'high',
    'replay-at-once': 'high',
  },
  malleable: { 'state-edited': 'critical' },
  'truncated-mac': { 'state-edited': 'critical', 'state-readable': 'note' },
  'gives-flows-up': { 'state-edited': 'critical', 'state-readable': 'note' },
  'jwt-alg-none': { 'state-rewritten': 'critical', 'state-readable': 'note' },
  'jwt-known-key': { 'state-rewritten': 'critical', 'state-readable': 'note' },
  'lenient-encoding': { 'state-reencoded': 'note' },
  'any-kind-of-state': { 'state-kind': 'medium' },
  'fresh-start-on-failure': {
    'state-edited': 'medium',
    'state-invented': 'medium',
    'state-kind': 'low',
    'state-other-user': 'low',
    'state-anonymous': 'low',
    'state-other-arguments': 'low',
  },
  'crashes-on-bad-state': {
    'state-edited': 'low',
    'state-invented': 'low',
    'state-kind': 'low',
    'state-other-user': 'low',
    'state-anonymous': 'low',
    'state-other-arguments': 'low',
    'state-other-tool': 'low',
    'state-other-method': 'low',
  },
  'readable-secrets': { 'state-readable': 'medium' },
  'deterministic-state': { 'states-equal': 'low', 'replay-in-sequence': 'high', 'replay-at-once': 'high' },
  'state-of-all': {
    'states-equal': 'medium',
    'state-other-user': 'critical',
    'state-anonymous': 'critical',
    'replay-in-sequence': 'high',
    'replay-at-once': 'high',
  },
  'hmac-no-binding': {
    'state-readable': 'note',
    'state-other-user': 'critical',
    'state-anonymous': 'critical',
    'state-other-arguments': 'high',
    'state-other-tool': 'high',
    'state-other-method': 'high',
  },
  'key-shared-over-tools': { 'state-other-tool': 'high' },
  'bound-to-name-only': { 'state-other-arguments': 'high', 'state-other-method': 'high' },
  'unbound-user': { 'state-other-user': 'critical', 'state-anonymous': 'critical' },
  'principal-by-client-id': { 'state-other-user': 'critical' },
  'anonymous-takeover': { 'state-anonymous': 'critical' },
  'skips-steps': { 'step-skipping': 'critical' },
  'trusts-answers-alone': { 'state-stripped': 'high' },
  'replayed-effects': { 'replay-in-sequence': 'high', 'replay-at-once': 'high' },
  // Only who waits can tell.
  'no-expiry': {},
};

let server: AuditedServer | undefined;
afterEach(() => server?.close());

test('the attacks on the state find nothing in a correct server', async () => {
  expect(await worstIn({})).toEqual({});
});

test.for(Object.entries({ ...FAULTY_STATES, ...FAULTY_BINDINGS }))(
  'the attacks on the state find what is wrong with %s, and nothing else',
  async ([name, faults]) => {
    expect(await worstIn(faults())).toEqual(EXPECTED[name as keyof typeof EXPECTED]);
  },
);

test('without a probe, a replay that is taken is worth a note', async () => {
  const results = await findingsIn(
    FAULTY_BINDINGS['replayed-effects'](),
    [replayInSequence, replayAtOnce],
    {},
  );
  expect(results.map(({ severity }) => severity)).toEqual(['note', 'note']);
});

test.for([
  ['a state that expires is refused when it is old', { expiresIn: 100 }, ['safe']],
  ['a state without expiry is found', FAULTY_BINDINGS['no-expiry'](), ['broken']],
] as const)('%s', async ([, faults, verdicts]) => {
  const findings = await findingsIn(faults, [noExpiry], { waitMs: 150 });
  expect(findings.map(({ verdict }) => verdict)).toEqual(verdicts);
});

async function worstIn(faults: Partial<Parts>): Promise<Found> {
  const findings = await findingsIn(faults, ATTACKS, { probe: { tool: 'count', arguments: {} } });
  const worst = new Map<string, Severity>();
  for (const { id, severity, verdict } of findings) {
    expect(verdict, id).not.toBe('unclear');
    if (severity === undefined) continue;
    const known = worst.get(id);
    if (known === undefined || SEVERITIES.indexOf(severity) > SEVERITIES.indexOf(known))
      worst.set(id, severity);
  }
  return Object.fromEntries(worst);
}

async function findingsIn(
  faults: Partial<Parts>,
  attacks: readonly Attack[],
  more: { readonly waitMs?: number; readonly probe?: { tool: string; arguments: Record<string, never> } },
) {
  server = await startServer(faults);
  const report = await audit({
    target: 'test',
    version: '0',
    wire: new HttpWire({ url: server.url, callers: CALLERS, timeoutMs: 5000 }),
    attacks,
    subject: {
      tool: 'transfer',
      arguments: { account: 'current' },
      callers: new Set(['main', 'other', 'anonymous'] as const),
      ...more,
    },
  });
  return report.results.flatMap(({ attack, findings }) =>
    findings.map((finding) => ({ id: attack.id, ...finding })),
  );
}
