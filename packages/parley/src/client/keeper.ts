import { ConfigurationError, FlowNotSaved, SavedFlowOutdated } from '../errors.js';
import { unlessAborted } from './ask.js';
import type { Clock } from './clock.js';
import type { SavedFlow } from './saved-flow.js';
import { stopped } from './send.js';
import type { FlowStore } from './store.js';

/** How long a call that has come to its end waits for a store that clears or saves, in ms. */
const GRACE_MS = 10_000;

/** How long one that was stopped waits for a write that was under way then. */
const GRACE_AFTER_STOP_MS = 1000;

/**
 * What a run knows of its store, and how it writes to it: over what it knows to be there, one write after another, and
 * no longer than the call may take. Without a store it does nothing.
 */
export class Keeper {
  readonly #store: FlowStore | undefined;
  readonly #clock: Clock;
  /** What is there, as far as this side knows. Nothing is written before that is known. */
  #held: SavedFlow | null = null;
  /** The write that is under way. It never rejects. */
  #writing: Promise<unknown> | undefined;

  constructor(store: FlowStore | undefined, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Reserves the store for a call that begins, so that what cannot be saved is not begun, and no other call is begun on
   * it at the same time.
   *
   * @throws ConfigurationError when it holds a call, FlowNotSaved when it fails.
   */
  async begin(flow: SavedFlow, signal: AbortSignal): Promise<void> {
    const there = await this.#load(signal);
    if (there !== undefined) throw taken();
    try {
      await this.#write(flow, signal);
    } catch (error) {
      if (error instanceof SavedFlowOutdated) throw taken(error);
      throw signal.aborted ? stopped(signal) : new FlowNotSaved(0, undefined, { cause: error });
    }
  }

  /** Whether all that is there is that the call begins. */
  get isBeginning(): boolean {
    return this.#held?.round === 0;
  }

  /**
   * Takes up a call that is saved there.
   *
   * @throws SavedFlowOutdated when what is there is not this call, or a later revision of it.
   */
  async takeUp(flow: SavedFlow, signal: AbortSignal): Promise<void> {
    if (this.#store === undefined) return;
    const there = await this.#load(signal, flow);
    if (there === undefined) throw new SavedFlowOutdated('nothing');
    if (there.id !== flow.id) throw new SavedFlowOutdated('another call');
    if (there.revision > flow.revision) throw new SavedFlowOutdated('another revision');
    this.#held = there;
    await this.save(flow, signal);
  }

  /**
   * Saves where a call stands, unless that is there already.
   *
   * @throws FlowNotSaved with the flow, when the store fails or holds something else.
   * @throws CallStopped, DriveLimit when the signal aborts.
   */
  async save(flow: SavedFlow, signal: AbortSignal): Promise<void> {
    if (this.#held?.revision === flow.revision) return;
    try {
      await this.#write(flow, signal);
    } catch (error) {
      throw signal.aborted ? stopped(signal, flow) : new FlowNotSaved(flow.round, flow, { cause: error });
    }
  }

  /**
   * Saves that a retry leaves. It must not, when that fails.
   *
   * @throws SavedFlowOutdated when somebody else has gone on with the call, FlowNotSaved when the store fails.
   */
  async mark(sent: SavedFlow, unsent: SavedFlow, signal: AbortSignal): Promise<void> {
    try {
      await this.#write(sent, signal);
    } catch (error) {
      if (signal.aborted || error instanceof SavedFlowOutdated) throw error;
      throw new FlowNotSaved(unsent.round, unsent, { cause: error });
    }
  }

  /**
   * Leaves the store as a call ends: with what there is to go on with, or empty. What comes of it changes nothing of
   * what the call came to, so it neither throws nor takes long.
   */
  async leave(flow?: SavedFlow): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    const writing = this.#writing;
    if (writing !== undefined) await this.#patiently(() => writing, GRACE_AFTER_STOP_MS);
    const held = this.#held;
    if (held === null || held.revision === flow?.revision || this.#writing !== undefined) return;
    await this.#patiently(
      async () => (flow === undefined ? store.clear(held) : store.save(flow, held)),
      GRACE_MS,
    );
  }

  /** Waits for something to succeed or fail, but not for longer than so many ms. */
  async #patiently(work: () => Promise<unknown>, ms: number): Promise<void> {
    const over = new AbortController();
    const patience = this.#clock.sleep(ms, over.signal).catch(() => undefined);
    await Promise.race([work(), patience]).catch(() => undefined);
    over.abort();
  }

  async #load(signal: AbortSignal, flow?: SavedFlow): Promise<SavedFlow | undefined> {
    const store = this.#store;
    if (store === undefined) return undefined;
    try {
      return await unlessAborted(() => store.load(), signal);
    } catch (error) {
      throw signal.aborted ? stopped(signal, flow) : error;
    }
  }

  async #write(flow: SavedFlow, signal: AbortSignal): Promise<void> {
    const put = async (): Promise<void> => {
      await this.#store?.save(flow, this.#held);
      this.#held = flow;
    };
    await unlessAborted(() => {
      const writing = put();
      const done = writing
        .catch(() => undefined)
        .then(() => {
          if (this.#writing === done) this.#writing = undefined;
        });
      this.#writing = done;
      return writing;
    }, signal);
  }
}

function taken(cause?: unknown): ConfigurationError {
  return new ConfigurationError('The store holds a call that did not end: resume it, or clear the store.', {
    cause,
  });
}
