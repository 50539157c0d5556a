import type { AskedQuestion, Journal } from '../flow/index.js';

/** What a handler's author may say about the states of that handler. */
export interface StatePolicy {
  /** The handler's version. A state of another version is rejected, unless `accepts` names it. */
  readonly version?: string;
  /** Older versions whose states this handler can still go on with; null for states from before it had a version. */
  readonly accepts?: readonly (string | null)[];
  /**
   * What becomes of a state that is authentic but too old: `reject` (the default), or `restart`, which starts
   * the flow over. Restarting is allowed only while the journal holds no work, only answers.
   */
  readonly expired?: 'reject' | 'restart';
  /**
   * Whether a round is answered only once: the same request again gets the stored response, and the same state
   * with other answers is rejected. Needs a ledger. Default: what the `Parley` was made with.
   */
  readonly singleUse?: boolean;
  /** Milliseconds that a round may wait for its answer. */
  readonly ttl?: number;
  /** Milliseconds that the whole flow may take, from its first round. It does not slide. */
  readonly deadline?: number;
}

/** What a flow needs in order to go on. */
export interface FlowState {
  readonly kind: 'flow';
  readonly asked: readonly AskedQuestion[];
  readonly journal: Journal;
}

/** The state text of a handler that was written by hand, with the keys of the questions that it asked. */
export interface PlainState {
  readonly kind: 'plain';
  readonly asked: readonly AskedQuestion[];
  readonly text: string;
}

/** Either, as it goes into a token. */
export type CarriedState = FlowState | PlainState;

/** Who asked for what: the bindings of a state. */
export interface Binding {
  /** 32 bytes; see `principalDigest`. */
  readonly principal: Uint8Array;
  /** 32 bytes; see `requestDigest`. */
  readonly request: Uint8Array;
}

/** The identity of a flow over its rounds. */
export interface FlowIdentity {
  /** 16 random bytes. */
  readonly flow: Uint8Array;
  /** The round, from 1. */
  readonly round: number;
  /** How many rounds so far asked nothing and only waited. */
  readonly waits: number;
  /** End of the flow's whole life, in ms since 1970; set in its first round. */
  readonly deadline: number;
}

/** What a token said when it was opened. */
export interface OpenedState extends FlowIdentity {
  readonly state: CarriedState;
  readonly issued: number;
  readonly expires: number;
  /** Version of the handler that sealed it. */
  readonly version: string | undefined;
  /** Set when its time is over; whether that matters is for the handler's policy to say. */
  readonly stale: 'expired' | 'deadline' | undefined;
  /** W3C `traceparent` of the round that sealed it, for linking. Never a parent: it came through the client. */
  readonly trace: string | undefined;
  /** The key that opened it, and whether that is the key which seals now. */
  readonly kid: string;
  readonly current: boolean;
  /** Where that key stands in the ring, from 0. */
  readonly position: number;
}
