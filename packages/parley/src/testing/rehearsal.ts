import type { StatePolicy } from '../carrier/index.js';
import type { RejectionReason } from '../errors.js';
import type { ClientView, FlowLimits, JournalEntry, KeyedQuestion } from '../flow/index.js';
import type { RehearsedAnswer } from './answers.js';

/**
 * What a round of a rehearsal may be made to do differently. Rounds are numbered from 1, as requests are sent. Of a
 * request that brings answers to a task, only `advance` and `instance` count.
 */
export interface RoundPlan {
  /** The response is lost: the client sends the same request again. */
  readonly drop?: boolean;
  /** After this round's response came, the same request is presented once more (a replay); see `replays`. */
  readonly repeat?: boolean;
  /** Milliseconds that pass before this round's request. */
  readonly advance?: number;
  /** The name of the instance that serves this round. Instances share keys only; a new one has seen nothing. */
  readonly instance?: string;
  /** Another caller than the rehearsal's. */
  readonly principal?: string | null;
  /** Other arguments than the rehearsal's. */
  readonly args?: unknown;
  /** Changes the state before it is presented. */
  readonly tamper?: (state: string) => string;
}

/** How to rehearse. */
export interface RehearseOptions<Ctx = unknown> {
  /** What the handler finds as `flow.ctx`; needed only by handlers that look there. */
  readonly ctx?: Ctx;
  /** Answers by key, or a function of the question and the round that asked. One without an answer ends the rehearsal. */
  readonly answers?:
    | Readonly<Record<string, RehearsedAnswer>>
    | ((question: KeyedQuestion, round: number) => RehearsedAnswer | undefined);
  /** Who calls; null, the default, for nobody. */
  readonly principal?: string | null;
  /** What happens in single rounds. */
  readonly rounds?: Readonly<Record<number, RoundPlan>>;
  /** Answers that the first request already carries, without having been asked. */
  readonly unasked?: Readonly<Record<string, RehearsedAnswer>>;
  /** Bounds of the flow. After a detach, `rounds` and `waits` count anew. */
  readonly limits?: Partial<FlowLimits>;
  /** What the handler is registered with: `version`, `accepts`, `expired`, `ttl`, `deadline`. */
  readonly policy?: StatePolicy;
  /** Bytes that a sealed state may take. Default 48 KiB. */
  readonly stateBytes?: number;
  /** What the handler finds as `flow.client`. Questions are answered whatever it says; only a server refuses them. */
  readonly client?: Partial<ClientView>;
  /** Where the simulated clock starts, in ms since 1970. Default 2026-07-28. */
  readonly startAt?: number;
  /** Runs the flow in one go, answering in place, instead of suspending it: what the rounds are compared with. */
  readonly uninterrupted?: boolean;
}

/** One request of a rehearsed flow, or one run of the task that it became, and what came of it. */
export interface RehearsedRound {
  /** As in `flow.round`; in a task it stays that of the round that detached. */
  readonly round: number;
  readonly instance: string;
  /** The questions that went out, by key; empty when the flow ended or only waits. */
  readonly questions: readonly KeyedQuestion[];
  /** The journal at the end of the round. */
  readonly journal: readonly JournalEntry[];
  /** Length of the sealed state on the wire; 0 when the flow ended, and in a task. */
  readonly stateBytes: number;
}

/**
 * How a rehearsal ended. A state that is too large is a failure. A flow that suspended and has no answer is `unanswered`.
 * `detached` is there when the flow went on as a task (`flow.detach`).
 */
export type RehearsalOutcome<T> =
  | { readonly type: 'completed'; readonly value: T; readonly detached?: true }
  | { readonly type: 'failed'; readonly error: unknown; readonly detached?: true }
  | { readonly type: 'rejected'; readonly reason: RejectionReason }
  | { readonly type: 'unanswered'; readonly keys: readonly string[]; readonly detached?: true };

/** What came of a request that was presented a second time. `task`: it was answered with a task, and nothing ran there. */
export type ReplayOutcome<T> = RehearsalOutcome<T> | { readonly type: 'task' };

/** What a rehearsal showed. */
export interface Rehearsal<T> {
  readonly outcome: RehearsalOutcome<T>;
  readonly rounds: readonly RehearsedRound[];
  /** What came of the requests that were presented a second time (`repeat`), in order. */
  readonly replays: readonly ReplayOutcome<T>[];
  /** Warnings that a developer would have seen. */
  readonly warnings: readonly string[];
}
