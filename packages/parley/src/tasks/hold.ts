import type { Fence, TaskStore } from './store.js';
import { unref } from './unref.js';

/** Why a run ends whose task is not its own to go on with. */
export type StopReason = 'cancelled' | 'lost' | 'unavailable';

const WORDS: Readonly<Record<StopReason, string>> = {
  cancelled: 'The task was cancelled.',
  lost: 'The task is over, or another worker has taken it over.',
  unavailable: 'The store of tasks cannot be reached.',
};

/** Ends a run from outside. What a handler's `heartbeat` rejects with, too. */
export class TaskStopped extends Error {
  override readonly name = 'TaskStopped';
  constructor(
    readonly reason: StopReason,
    options?: ErrorOptions,
  ) {
    super(WORDS[reason], options);
  }
}

/** Running tasks are looked after this often, in ms: a cancelled one stops within a second. */
const BEAT = 400;

/** Holds the claim of a running task, and ends the run when the claim is lost or the task is to stop. Keeps no process alive. */
export class Hold {
  readonly #store: TaskStore;
  readonly #claim: Fence;
  readonly #lease: number;
  readonly #abort = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;
  #asking = false;
  #heldUntil: number;

  constructor(store: TaskStore, claim: Fence, lease: number) {
    this.#store = store;
    this.#claim = claim;
    this.#lease = lease;
    this.#heldUntil = performance.now() + lease;
    this.#timer = setInterval(() => void this.#beat(), Math.min(BEAT, lease / 3));
    unref(this.#timer);
  }

  /** Aborts with a {@link TaskStopped}. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Extends the claim now. @throws TaskStopped */
  async extend(): Promise<void> {
    const begun = performance.now();
    let state: 'held' | 'cancelled' | 'lost';
    try {
      state = await this.#store.extend(this.#claim, this.#lease);
    } catch (error) {
      if (performance.now() < this.#heldUntil) return;
      throw this.#stop(new TaskStopped('lost', { cause: error }));
    }
    if (state !== 'held') throw this.#stop(new TaskStopped(state));
    this.#heldUntil = begun + this.#lease;
  }

  /** A write of the store. @throws TaskStopped when nothing was written, or that is not known. */
  async write(write: Promise<boolean>): Promise<void> {
    let written: boolean;
    try {
      written = await write;
    } catch (error) {
      throw this.#stop(new TaskStopped('unavailable', { cause: error }));
    }
    if (written) return;
    await this.extend();
    throw this.#stop(new TaskStopped('lost'));
  }

  /** Looks after it no longer. The claim stays. */
  end(): void {
    clearInterval(this.#timer);
  }

  async #beat(): Promise<void> {
    if (this.#asking) {
      // A store that does not answer at all must not let this run go on beside the one that takes over.
      if (performance.now() >= this.#heldUntil) this.#stop(new TaskStopped('lost'));
      return;
    }
    this.#asking = true;
    await this.extend().catch(() => undefined);
    this.#asking = false;
  }

  #stop(error: TaskStopped): TaskStopped {
    this.end();
    if (!this.#abort.signal.aborted) this.#abort.abort(error);
    return error;
  }
}
