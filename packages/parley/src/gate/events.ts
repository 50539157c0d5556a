import type { RejectionReason } from '../errors.js';

/** The requests that can take several rounds (basic/patterns/mrtr, "Supported Requests"). */
export type GatedMethod = 'tools/call' | 'prompts/get' | 'resources/read';

/** Which request an event is about. Never holds an argument, an answer, a token or an identity. */
export interface EventSource {
  readonly method: GatedMethod;
  /** The tool's or prompt's name, or the resource's URI, as the client sent it: untrusted text. */
  readonly target: string;
}

/** An event of one round of a flow. */
export interface RoundEvent extends EventSource {
  /** The flow's id, 22 characters of base64url. */
  readonly flow: string;
  readonly round: number;
}

/** The events of a {@link Parley}, by name. */
export interface ParleyEvents {
  /** A state was accepted. `trace` is the `traceparent` of the round that sealed it, to link to. */
  opened: RoundEvent & { readonly kid: string; readonly trace?: string };
  /** A state was not accepted; the client was told nothing of why. */
  rejected: EventSource & { readonly reason: RejectionReason };
  /** A state was sealed. `bytes` is its length on the wire, `expires` in ms since 1970. */
  sealed: RoundEvent & { readonly bytes: number; readonly expires: number };
  /** A run asked and was let go. No questions: the client was asked to come back. */
  suspended: RoundEvent & { readonly questions: readonly string[] };
  /** A single-use round was asked for again, and got the response on record. */
  repeated: RoundEvent;
  /** A flow became a task; its questions, and its end, are told of as before. The id of a task is in no event: it opens the task. */
  detached: RoundEvent;
  /** A flow ended, in this round or as a task; `failed` when its handler threw. */
  completed: RoundEvent & { readonly failed: boolean };
  /** A key other than the one that seals now opened a state: it is still needed. `position` is its place in `keys`, from 0. */
  keyUsed: { readonly kid: string; readonly position: number };
}

/** Takes the events of one name. */
export type Listener<E> = (event: E) => void;

/** A typed emitter of a few dozen lines: the runtime-neutral core has no `node:events`. */
export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();
  readonly #onFault: (error: unknown) => void;

  /** @param onFault gets what a listener throws: a fault in a metric must not fail a request. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Adds a listener; the returned function removes it. */
  on<K extends keyof Events>(name: K, listener: Listener<Events[K]>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  /**
   * Calls the listeners of a name, in the order in which they were added.
   *
   * @param make makes the event; not called when nobody listens.
   */
  emit<K extends keyof Events>(name: K, make: () => Events[K]): void {
    const listeners = this.#listeners.get(name);
    if (listeners === undefined || listeners.size === 0) return;
    const event = make();
    for (const listener of listeners) {
      try {
        const result: unknown = (listener as Listener<Events[K]>)(event);
        if (result instanceof Promise) result.catch(this.#onFault);
      } catch (error) {
        this.#onFault(error);
      }
    }
  }
}
