/*
 * What holds tasks: the seam between the engine, which knows flows, and a memory or a database, which knows rows. All
 * content is sealed above it: a store sees ids, times, counts and opaque texts. `taskStoreCases` of
 * `mcp-parley/testing` holds a store to what follows.
 *
 *  T1  `create` resolves when the task is durable, claimable and due, in one transaction. The same `flow` again gives
 *      the task that it made, also after that ended, until `markUntil`.
 *  T2  A fence grows with each claim of a task. Every write of a worker names its fence; with one that is not the
 *      latest, or whose lease lapsed and was taken over, nothing is written.
 *  T3  There is one claim at a time. It lapses at its lease; then the task is due, and who claims it goes on from what
 *      was appended. `runs` counts the claims since the last `append` or `park`, this one included.
 *  T4  `answer` is durable when it resolves, and the next `read` shows it. It takes an answer only under a wire that
 *      is parked now and not answered, and makes the task due in the same transaction. An answer that comes while a
 *      run is under way is not lost: where a wire that is parked anew is answered already, the task is due at once.
 *  T5  A state that is terminal never changes. `cancel` of a task that nobody has claimed, or whose claim lapsed, is
 *      terminal at once; of a claimed one it is seen by `extend` and by every write of its worker but `finish`. A
 *      claim that lapses after that leaves the task cancelled.
 *  T6  From `expiresAt` on a task is not read, claimed, answered or written, and what it held is swept away. What is
 *      left until `markUntil` is the mark that its flow made it (T1).
 *  T7  `park` gives the claim back, replaces what was parked, and drops answers under wires that are not parked any
 *      more. All that it says happens in one transaction.
 *
 * A method rejects only when the store cannot be reached, or is full (`create`): then the caller knows nothing of
 * what happened, and may call again.
 */

/** A task to be stored. Times are in ms since 1970, texts are sealed. */
export interface NewTask {
  /** 22 characters of base64url, 128 random bits (tasks extension, "Security": ids cannot be guessed). */
  readonly id: string;
  /** Digest of the flow that becomes the task, 43 characters of base64url: unique (T1). */
  readonly flow: string;
  /** Digest of who created it, 43 characters of base64url. */
  readonly principal: string;
  /** What the task is: never changes. */
  readonly head: string;
  /** The journal so far, as one chunk; absent when nothing was recorded. */
  readonly journal?: string;
  readonly createdAt: number;
  /** Milliseconds from creation to `expiresAt`, as the client was told. */
  readonly ttl: number;
  readonly expiresAt: number;
  /** Milliseconds between two polls, as the client was told. */
  readonly pollInterval: number;
  /** How long the flow's mark is kept; not before `expiresAt` (T6). */
  readonly markUntil: number;
}

/** `active` covers `working` and `input_required`: which of them it is follows from `parked` and `answered`. */
export type TaskState = 'active' | 'completed' | 'failed' | 'cancelled';

/** What a reader sees of a task. */
export interface TaskRow {
  readonly id: string;
  readonly state: TaskState;
  readonly principal: string;
  readonly head: string;
  /** What was parked last; kept while a later run is under way. */
  readonly parked?: string;
  /** How it ended. Absent while it is active, and for a task that was cancelled. */
  readonly outcome?: string;
  /** What was noted last. */
  readonly note?: string;
  /** Wires of the last park that have an answer. */
  readonly answered: readonly string[];
  readonly createdAt: number;
  /** When the task last changed for a reader: created, answered, noted, parked or ended. */
  readonly updatedAt: number;
  readonly ttl: number;
  readonly pollInterval: number;
}

/** Names a claim in a write (T2). */
export interface Fence {
  readonly id: string;
  readonly fence: number;
}

/** An answer under a wire. */
export interface StoredAnswer {
  /** Digest of a question's key on the wire, opaque to the store. */
  readonly wire: string;
  /** The sealed answer. */
  readonly value: string;
}

/** A task that one worker may run now. */
export interface TaskClaim extends Fence {
  readonly head: string;
  /** The journal, in the order in which it was appended. */
  readonly journal: readonly string[];
  readonly parked?: string;
  readonly answers: readonly StoredAnswer[];
  readonly expiresAt: number;
  /** Claims since the last progress, this one included: 1 unless a worker died or gave up (T3). */
  readonly runs: number;
}

/** How a run that came to rest leaves its task (T7). */
export interface Parked {
  /** Sealed: the questions, and what the engine needs to go on. */
  readonly parked: string;
  /** The wires of the questions that are open now; none while the task only waits. Their number may be monitored. */
  readonly wires: readonly string[];
  /** When the task is due by itself, in ms since 1970. Absent: only an answer makes it due. */
  readonly dueAt?: number;
  /** Replaces the whole journal by one chunk. Absent: what was appended stands. */
  readonly journal?: string;
}

/** How a task ended. */
export interface TaskEnd {
  readonly state: 'completed' | 'failed' | 'cancelled';
  /** Sealed. */
  readonly outcome?: string;
}

/** Takes what is due. */
export interface TaskWorker {
  /** Takes no more tasks, and resolves when those under way have returned. */
  stop(): Promise<void>;
}

/** How a worker takes tasks. */
export interface WorkOptions {
  /** How many tasks may run at a time. */
  readonly concurrency: number;
}

/** The store of tasks; see T1 to T7 at the head of this file. */
export interface TaskStore {
  /** Stores a task, or gives the id of the one that its flow made before (T1, T6). */
  create(task: NewTask): Promise<{ readonly id: string; readonly created: boolean }>;

  /** What is known of a task; undefined when there is none, or it expired. */
  read(id: string): Promise<TaskRow | undefined>;

  /** Adds answers (T4). What is not open, unknown or expired is ignored; a task without any open one is left as it is. */
  answer(id: string, answers: readonly StoredAnswer[]): Promise<void>;

  /** Asks a task to stop (T5). Nothing happens to one that is unknown or ended. */
  cancel(id: string): Promise<void>;

  /** Takes a task that is not ended, expired or claimed, for `lease` ms; undefined when it cannot be had. */
  claim(id: string, lease: number): Promise<TaskClaim | undefined>;

  /** Makes a claim last for `lease` ms from now. Called every half second or so of each running task. */
  extend(claim: Fence, lease: number): Promise<'held' | 'cancelled' | 'lost'>;

  /** Adds a chunk to the journal. False: nothing was written, since the claim is lost or the task cancelled. */
  append(claim: Fence, chunk: string): Promise<boolean>;

  /** Sets the sealed text that readers see beside the status. False as for {@link append}. */
  note(claim: Fence, message: string): Promise<boolean>;

  /** Leaves the task until it is due again (T7). False as for {@link append}. */
  park(claim: Fence, parked: Parked): Promise<boolean>;

  /** Ends the task, and gives the claim back. False when the claim is lost. */
  finish(claim: Fence, end: TaskEnd): Promise<boolean>;

  /**
   * Gives a claim back without any progress: due again at `dueAt`, for whoever claims it. It does not count for
   * `runs`. False when the claim is lost.
   */
  release(claim: Fence, dueAt: number): Promise<boolean>;

  /**
   * Calls `run` with the ids of tasks that are due, until it is stopped. `run` claims the task itself, and does
   * nothing where it gets no claim. When it rejects, the task is tried again after a while.
   */
  work(run: (id: string) => Promise<void>, options: WorkOptions): Promise<TaskWorker>;

  /** Lets go of what the store holds open: timers, connections of its own. */
  close(): Promise<void>;
}
