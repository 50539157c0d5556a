import type { ServerContext } from '@modelcontextprotocol/server';
import type { Binding, FlowIdentity, OpenedState, StatePolicy } from '../carrier/index.js';
import { encodeBase64url, randomBytes } from '../seal/index.js';
import type { EventSource, RoundEvent } from './events.js';

/** Who asks, or for what, could not be told. Local to the gate; never thrown at a user of the library. */
export class BindingFailed extends Error {
  readonly part: 'principal' | 'request';
  constructor(part: 'principal' | 'request', cause: unknown) {
    super(`binding failed: ${part}`, { cause });
    this.part = part;
  }
}

/** One request of a gated method, from its arrival to its answer. */
export interface RoundOptions {
  readonly source: EventSource;
  readonly ctx: ServerContext;
  readonly policy: StatePolicy;
  /** What its state said, after it was checked. */
  readonly opened: OpenedState | undefined;
  /** The answers of the client, as they came. */
  readonly answers: unknown;
  /** Tells who asks for what; computed on first use. */
  readonly bind: () => Promise<Binding>;
  /** The identity of a flow that starts with this round. */
  readonly begin: (flow: Uint8Array) => FlowIdentity;
}

/**
 * The state of one round inside the gate. What costs (digests, random ids) is made on first use: most calls
 * never ask anything.
 */
export class Round {
  readonly source: EventSource;
  readonly ctx: ServerContext;
  readonly policy: StatePolicy;
  readonly opened: OpenedState | undefined;
  readonly answers: unknown;
  /**
   * What must go out as a JSON-RPC error. An error that is thrown inside a tool's callback would be turned
   * into a tool result by the SDK, so it is left here and thrown again outside.
   */
  failure: { readonly error: unknown } | undefined;
  /** Whether the result of this round carries a state that is sealed already. */
  sealed = false;
  readonly #options: RoundOptions;
  #identity: FlowIdentity | undefined;

  constructor(options: RoundOptions) {
    this.#options = options;
    this.source = options.source;
    this.ctx = options.ctx;
    this.policy = options.policy;
    this.opened = options.opened;
    this.answers = options.answers;
  }

  /** The round's number, from 1. */
  get number(): number {
    return this.opened === undefined ? 1 : this.opened.round + 1;
  }

  /** The identity that this round's state is sealed under. */
  get identity(): FlowIdentity {
    this.#identity ??=
      this.opened === undefined
        ? this.#options.begin(randomBytes(16))
        : { flow: this.opened.flow, round: this.number, deadline: this.opened.deadline };
    return this.#identity;
  }

  /** The flow's id as text. */
  get flowId(): string {
    return encodeBase64url(this.identity.flow);
  }

  /** The head of an event about this round. */
  get event(): RoundEvent {
    return { ...this.source, flow: this.flowId, round: this.number };
  }

  /** Who asks for what. */
  binding(): Promise<Binding> {
    return this.#options.bind();
  }
}
