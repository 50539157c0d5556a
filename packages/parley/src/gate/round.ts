import type { Result, ServerContext } from '@modelcontextprotocol/server';
import type { FlowIdentity, OpenedState } from '../carrier/index.js';
import { encodeBase64url } from '../seal/index.js';
import type { Bind } from './binding.js';
import type { EventSource, RoundEvent } from './events.js';

/** One request of a gated method, from its arrival to its answer. */
export interface RoundOptions {
  readonly source: EventSource;
  readonly ctx: ServerContext;
  /** The arguments as the client sent them. */
  readonly args: unknown;
  /** What its state said, after it was authenticated. */
  readonly opened: OpenedState | undefined;
  /** Tells who asks for what; computed on first use. */
  readonly bind: Bind;
}

/** The state of one round inside the gate. */
export class Round {
  readonly source: EventSource;
  readonly ctx: ServerContext;
  readonly args: unknown;
  /** What this round goes on from; undefined when it starts a flow. */
  readonly opened: OpenedState | undefined;
  readonly bind: Bind;
  /**
   * What must go out as a JSON-RPC error. An error that is thrown inside a tool's callback would be turned
   * into a tool result by the SDK, so it is left here and thrown again outside.
   */
  failure: { readonly error: unknown } | undefined;
  /** The task that the flow has become: the answer to this round, whatever the SDK makes of the callback's end. */
  task: Result | undefined;
  /** Whether the result of this round carries a state that is sealed already. */
  sealed = false;

  constructor({ source, ctx, args, opened, bind }: RoundOptions) {
    this.source = source;
    this.ctx = ctx;
    this.args = args;
    this.opened = opened;
    this.bind = bind;
  }

  /** Leaves an error for the wire and throws it. */
  fail(error: unknown): never {
    this.failure = { error };
    throw error;
  }

  /** The head of an event about this round. */
  event({ flow, round }: FlowIdentity): RoundEvent {
    return { ...this.source, flow: encodeBase64url(flow), round };
  }
}
