import { StateRejected, StateTooLarge } from '../errors.js';
import { readEntry, type JournalEntry } from '../flow/index.js';
import { checkClaims, decodeClaims, encodeClaims, type Sealer } from '../seal/index.js';
import { readBody, writeBody } from './body.js';
import type { Binding, CarriedState, FlowIdentity, OpenedState, StatePolicy } from './state.js';

/** How a carrier is made. Times in ms, sizes in bytes (a token is ASCII: a byte is a character). */
export interface TokenCarrierOptions {
  readonly sealer: Sealer;
  readonly now: () => number;
  readonly ttl: number;
  readonly deadline: number;
  readonly stateBytes: number;
  /** Hides lengths by Padmé padding. */
  readonly pad: boolean;
}

/** What a state must be, to be taken. */
export interface Expectation {
  readonly kind: CarriedState['kind'];
  readonly policy: StatePolicy;
  /** Tells who asks for what. Asked only once the state has proved authentic: forged ones must cost little. */
  readonly bind: () => Binding | Promise<Binding>;
}

/** A state that was opened, or one that was authentic, had merely expired, and may be started over. */
export type OpenResult =
  { readonly type: 'opened'; readonly state: OpenedState } | { readonly type: 'restart' };

/** A sealed state. */
export interface SealedState {
  readonly token: string;
  readonly expires: number;
}

/**
 * The carrier that holds a journal in `requestState`: between rounds the client has it, sealed, and the
 * server has nothing.
 */
export class TokenCarrier {
  readonly #options: TokenCarrierOptions;

  constructor(options: TokenCarrierOptions) {
    this.#options = options;
  }

  /**
   * Opens a state and holds it against the request that brought it (STATE-01 to STATE-07).
   *
   * @throws StateRejected with the true reason, which must not reach the client.
   */
  async open(token: unknown, expected: Expectation): Promise<OpenResult> {
    if (typeof token !== 'string') throw new StateRejected('not_a_string');
    const { plaintext, kid, current, position } = await this.#options.sealer.open(token);
    const claims = decodeClaims(plaintext);
    const binding = await expected.bind();
    const stale = checkClaims(claims, { ...binding, kind: expected.kind, now: this.#options.now() });
    if (stale !== undefined && stale !== 'expired' && stale !== 'deadline') throw new StateRejected(stale);
    const body = readBody(claims.kind, claims.body);
    if (!acceptsVersion(expected.policy, body.version)) throw new StateRejected('version');
    if (stale !== undefined) {
      if (expected.policy.expired === 'restart' && holdsNoWork(body.state)) return { type: 'restart' };
      throw new StateRejected(stale);
    }
    const { flow, round, issued, expires, deadline } = claims;
    const trace = body.trace === undefined ? undefined : { trace: body.trace };
    return {
      type: 'opened',
      state: { ...body.state, flow, round, issued, expires, deadline, ...trace, kid, current, position },
    };
  }

  /** The identity of a flow that starts now. */
  begin(flow: Uint8Array, policy: StatePolicy): FlowIdentity {
    return { flow, round: 1, deadline: this.#options.now() + (policy.deadline ?? this.#options.deadline) };
  }

  /**
   * Seals the state in which a round ends.
   *
   * @throws StateTooLarge naming the largest entries.
   */
  async seal(
    state: CarriedState,
    identity: FlowIdentity,
    binding: Binding,
    policy: StatePolicy,
    trace?: string,
  ): Promise<SealedState> {
    const { now, ttl, stateBytes, sealer, pad } = this.#options;
    const issued = now();
    const expires = Math.min(issued + (policy.ttl ?? ttl), identity.deadline);
    const body = writeBody({
      state,
      ...(policy.version !== undefined && { version: policy.version }),
      ...(trace !== undefined && { trace }),
    });
    // Base64 makes four characters of three bytes, and a body has at least a byte a character.
    if (body.length * (4 / 3) > stateBytes)
      throw tooLarge(state, Math.ceil(body.length * (4 / 3)), stateBytes);
    const claims = { kind: state.kind, ...identity, issued, expires, ...binding, body };
    const token = await sealer.seal(encodeClaims(claims, { pad }));
    if (token.length > stateBytes) throw tooLarge(state, token.length, stateBytes);
    return { token, expires };
  }
}

function acceptsVersion(policy: StatePolicy, version: string | undefined): boolean {
  if (version === policy.version) return true;
  return version !== undefined && policy.accepts?.includes(version) === true;
}

/** Answers can be asked for again; work that was done must not be forgotten because a client was slow. */
function holdsNoWork(state: CarriedState): boolean {
  return state.kind === 'flow' && state.journal.every((text) => !WORK[readEntry(text).type]);
}

const WORK: Readonly<Record<JournalEntry['type'], boolean>> = {
  step: true,
  'step-failed': true,
  wait: true,
  answer: false,
  'answer-invalid': false,
  now: false,
  random: false,
  uuid: false,
};

function tooLarge(state: CarriedState, bytes: number, limit: number): StateTooLarge {
  const entries =
    state.kind === 'plain'
      ? [{ key: 'requestState', bytes: state.text.length }]
      : state.journal.map((text) => {
          const entry = readEntry(text);
          return { key: 'key' in entry ? entry.key : entry.type, bytes: text.length };
        });
  return new StateTooLarge(bytes, limit, entries.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3));
}
