import type { RawAnswers } from './answer.js';
import type { ClientView } from './flow.js';
import type { Journal } from './journal.js';
import type { FlowLimits } from './limits.js';
import type { OnceKeeper } from './once.js';
import type { Question } from './question.js';
import type { AskedQuestion } from './questions.js';
import type { Scheduler } from './scheduler.js';

/** What varies between hosts and is injected. */
export interface RunHost {
  /** The time in ms since 1970. */
  readonly now: () => number;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly uuid: () => string;
  /** A short digest of a question's text; a collision would let an answer count for another question. */
  readonly digest: (text: string) => string;
  readonly scheduler: Scheduler;
  /** Milliseconds after which a question that waits for a running step is warned of; never, without. */
  readonly watchdog?: number;
  /** Tells a developer of a mistake in a handler. Gets no data of the flow. */
  readonly warn: (message: string) => void;
}

/** What one run of a handler starts from. */
export interface RunInput<Ctx> {
  readonly id: () => string;
  readonly round: number;
  /** How many of the rounds before this one asked nothing and only waited. */
  readonly waits: number;
  readonly journal: Journal;
  /** What the sealed round before this one asked; undefined on a first request. */
  readonly asked: readonly AskedQuestion[] | undefined;
  /** The client's answers as they came; nothing about them is taken on trust. */
  readonly answers: RawAnswers;
  readonly limits: FlowLimits;
  readonly client: ClientView;
  readonly ctx: Ctx;
  /** Sees to work that must happen at most once; without it `flow.once` is an error. */
  readonly once?: OnceKeeper;
  /**
   * Whether the flow can go on as a task. `possible`: a `flow.detach` ends this run when it rests without a question,
   * with the outcome `detached`. `done`: this is the task, and `flow.detach` resolves in its recorded place, or when
   * there is none, at such a rest. Absent: `flow.detach` ends the run with an error.
   */
  readonly detached?: 'possible' | 'done' | undefined;
  /** The error of a `flow.detach` that is not possible. Default: one that says what to configure. */
  readonly cannotDetach?: () => Error;
  /**
   * Makes lines of the journal durable. It gets those that are new in this run, each once and in the order of the
   * journal, and is called again only when it has settled. When it rejects, the run fails with that error.
   *
   * At the end of a run the journal may hold draws that were not committed: no work has begun since.
   */
  readonly commit?: (lines: readonly string[]) => Promise<void>;
  /**
   * Whether a `waitFor` looks once and then leaves the run to rest, where coming back costs nothing (a task's store)
   * and polling in place would hold up others. Default false.
   */
  readonly looksOnce?: boolean;
  /** Says that work is alive, and what about it; rejects when it should stop. Without it a heartbeat does nothing. */
  readonly heartbeat?: (message: string | undefined) => Promise<void>;
  /** Aborts when nobody waits for this round any more. */
  readonly signal?: AbortSignal;
  readonly host: RunHost;
  /**
   * Answers questions while the run stays in memory, instead of suspending it. Without it, or when it gives
   * undefined, the run is suspended.
   */
  readonly inPlace?: (questions: readonly KeyedQuestion[]) => Promise<RawAnswers>;
}

/** A question under its key. */
export interface KeyedQuestion {
  readonly key: string;
  readonly question: Question;
}
