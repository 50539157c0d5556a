import { StateRejected, StateTooLarge } from '../errors.js';
import { readEntry, type JournalEntry } from '../flow/index.js';
import {
  checkClaims,
  CLAIMS_HEADER_BYTES,
  decodeClaims,
  encodeClaims,
  tokenLength,
  type Sealer,
} from '../seal/index.js';
import { acceptsVersion } from './accepts-version.js';
import { readBody, writeBody } from './body.js';
import { bytesOf, journalTooLarge } from './journal-size.js';
import type { Binding, CarriedState, FlowIdentity, OpenedState, StatePolicy } from './state.js';

/** How a carrier is made. Times in ms, sizes in bytes (a token is ASCII: a byte is a character). */
export interface TokenCarrierOptions {
  readonly sealer: Sealer;
  readonly now: () => number;
  readonly ttl: number;
  readonly deadline: number;
  readonly stateBytes: number;
  /** How far the clocks of instances may be apart, in ms. */
  readonly clockSkew: number;
  /** Hides lengths by Padmé padding. */
  readonly pad: boolean;
  /** Where journals go that are too large for a token; without it they are an error. */
  readonly overflow?: Overflow | undefined;
}

/** A place for journals that are too large for a token. */
export interface Overflow {
  /** The largest journal that is taken, in bytes. */
  readonly maxBytes: number;
  /** Stores a text for `left` ms, and gives what it is found by. */
  put(text: string, left: number): Promise<string>;
  /** @throws StateRejected `journal` when it is not there any more. */
  get(reference: string): Promise<string>;
}

/** What becomes of a state at its handler: the flow goes on, or starts over because the state was merely too old. */
export type Admission = 'continue' | 'restart';

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
   * @param bind tells who asks for what. Asked only once the state has proved authentic: forged ones must cost little.
   * @throws StateRejected with the true reason, which must not reach the client.
   */
  async open(token: unknown, bind: () => Binding | Promise<Binding>): Promise<OpenedState> {
    if (typeof token !== 'string') throw new StateRejected('not_a_string');
    const { plaintext, kid, current, position } = await this.#options.sealer.open(token);
    const claims = decodeClaims(plaintext);
    const { flow, round, issued, expires, deadline } = claims;
    const { principal, request } = await bind();
    const stale = checkClaims(claims, {
      principal,
      request,
      kind: claims.kind,
      now: this.#options.now(),
      skew: this.#options.clockSkew,
    });
    if (stale !== undefined && stale !== 'expired' && stale !== 'deadline') throw new StateRejected(stale);
    const { state, version, trace, waits, overflow } = readBody(claims.kind, claims.body);
    return {
      state: overflow === undefined ? state : await this.#fetch(state, overflow),
      flow,
      round,
      waits,
      issued,
      expires,
      deadline,
      version,
      trace,
      stale,
      kid,
      current,
      position,
    };
  }

  /**
   * Decides whether a handler takes a state that was opened. Apart from opening, because only the handler that a
   * request was dispatched to knows its policy.
   *
   * @throws StateRejected `kind`, `version`, `expired` or `deadline`.
   */
  admit({ state, version, stale }: OpenedState, kind: CarriedState['kind'], policy: StatePolicy): Admission {
    if (state.kind !== kind) throw new StateRejected('kind');
    if (!acceptsVersion(policy, version)) throw new StateRejected('version');
    if (stale === undefined) return 'continue';
    if (policy.expired === 'restart' && holdsNoWork(state)) return 'restart';
    throw new StateRejected(stale);
  }

  /** The identity of a flow that starts now. */
  begin(flow: Uint8Array, policy: StatePolicy): FlowIdentity {
    return {
      flow,
      round: 1,
      waits: 0,
      deadline: this.#options.now() + (policy.deadline ?? this.#options.deadline),
    };
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
    const { flow, round, waits, deadline } = identity;
    const issued = now();
    const expires = Math.min(issued + (policy.ttl ?? ttl), deadline);
    const { principal, request } = binding;
    const said = { waits, version: policy.version, trace };
    const plaintextOf = (body: string): Uint8Array =>
      encodeClaims(
        { kind: state.kind, flow, round, issued, expires, deadline, principal, request, body },
        { pad },
      );
    const body = writeBody({ ...said, state });
    // A cheap look first: a body has at least a byte a character.
    let plaintext = tokenLength(body.length) > stateBytes ? undefined : plaintextOf(body);
    if (plaintext === undefined || tokenLength(plaintext.length) > stateBytes) {
      const overflow = await this.#store(state, identity, body);
      plaintext = plaintextOf(
        writeBody({ ...said, overflow, state: { ...state, journal: [] } as CarriedState }),
      );
    }
    if (tokenLength(plaintext.length) > stateBytes) throw tooLarge(state, body, stateBytes);
    return { token: await sealer.seal(plaintext), expires };
  }

  /** Puts a journal that is too large where there is room. */
  async #store(state: CarriedState, { deadline }: FlowIdentity, body: string): Promise<string> {
    const { overflow, stateBytes, now } = this.#options;
    if (overflow === undefined || state.kind === 'plain') throw tooLarge(state, body, stateBytes);
    const text = state.journal.join('\n');
    if (bytesOf(text) > overflow.maxBytes) throw tooLarge(state, body, overflow.maxBytes);
    return await overflow.put(text, deadline - now());
  }

  async #fetch(state: CarriedState, reference: string): Promise<CarriedState> {
    const { overflow } = this.#options;
    if (overflow === undefined || state.kind === 'plain') throw new StateRejected('journal');
    return { ...state, journal: (await overflow.get(reference)).split('\n') };
  }
}

/** Answers can be asked for again; work that was done must not be forgotten because a client was slow. */
function holdsNoWork(state: CarriedState): boolean {
  return state.kind === 'flow' && state.journal.every((text) => !WORK[readEntry(text).type]);
}

const WORK: Readonly<Record<JournalEntry['type'], boolean>> = {
  step: true,
  'step-failed': true,
  'wait-failed': true,
  once: true,
  'once-failed': true,
  wait: true,
  detach: true,
  answer: false,
  'answer-invalid': false,
  now: false,
  random: false,
  uuid: false,
};

function tooLarge(state: CarriedState, body: string, limit: number): StateTooLarge {
  const bytes = tokenLength(CLAIMS_HEADER_BYTES + bytesOf(body));
  return state.kind === 'plain'
    ? new StateTooLarge(bytes, limit, [{ key: 'requestState', bytes: bytesOf(state.text) }])
    : journalTooLarge(state.journal, bytes, limit);
}
