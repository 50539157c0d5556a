import type { FAULTY_BINDINGS } from '../servers/faulty-bindings.js';
import type { FAULTY_STATES } from '../servers/faulty-states.js';

/** A server that each attack on the state catches; state/attacks-on-state.test.ts has the whole of that table. */
export const STATE_CAUGHT_BY: Readonly<
  Record<string, keyof typeof FAULTY_STATES | keyof typeof FAULTY_BINDINGS>
> = {
  'state-edited': 'malleable',
  'state-invented': 'unsigned-state',
  'state-kind': 'any-kind-of-state',
  'state-rewritten': 'unsigned-state',
  'state-reencoded': 'lenient-encoding',
  'state-readable': 'readable-secrets',
  'states-equal': 'deterministic-state',
  'state-other-user': 'unbound-user',
  'state-anonymous': 'anonymous-takeover',
  'state-other-arguments': 'bound-to-name-only',
  'state-other-tool': 'key-shared-over-tools',
  'state-other-method': 'bound-to-name-only',
  'step-skipping': 'skips-steps',
  'state-stripped': 'trusts-answers-alone',
  'replay-in-sequence': 'replayed-effects',
  'replay-at-once': 'replayed-effects',
  'no-expiry': 'no-expiry',
};
