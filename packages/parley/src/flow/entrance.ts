import { FlowDiverged, InvalidKey, KeyReused, NestedCall } from '../errors.js';
import { RESERVED } from './detach.js';
import { describeEntry, type KeyedEntry } from './journal.js';
import type { Replay } from './replay.js';

const MAX_KEY_LENGTH = 256;

/** Settles a call that came in, once its recorded entry is found, or there is none. */
export type Enter<T> = (
  recorded: KeyedEntry | undefined,
  resolve: (value: T) => void,
  reject: (error: Error) => void,
) => void;

/** What every call into a flow goes through: is the run alive, is the key free, does the record agree (F1, F2). */
export class Entrance {
  readonly #replay: Replay;
  readonly #warn: (message: string) => void;
  readonly #used = new Set<string>();
  #insideWork: string | undefined;
  #over = false;
  #goesOn = false;
  #warned = false;

  constructor(replay: Replay, warn: (message: string) => void) {
    this.#replay = replay;
    this.#warn = warn;
  }

  /** Whether the run is over. */
  get over(): boolean {
    return this.#over;
  }

  /**
   * Lets nothing in from now on (F2).
   *
   * @param goesOn whether the handler will run again from its top.
   */
  close(goesOn: boolean): void {
    this.#over = true;
    this.#goesOn = goesOn;
  }

  /** The promise of a call that has a key. */
  enter<T>(call: string, key: string, types: readonly KeyedEntry['type'][], go: Enter<T>): Promise<T> {
    if (this.#over) return this.never(`${call}('${key}')`);
    const promise = new Promise<T>((resolve, reject) => {
      this.#claim(call, key);
      const recorded = this.#replay.find(key);
      if (recorded !== undefined && !types.includes(recorded.type)) {
        throw new FlowDiverged(key, describeEntry(recorded), describeCall(types));
      }
      go(recorded, resolve, reject);
    });
    // A rejection that the handler never looks at must not end a process that serves others.
    promise.catch(ignore);
    return promise;
  }

  /** The promise of a call that came too late; it never settles. */
  never<T>(call: string): Promise<T> {
    // After a completed flow it is the end of a race that was lost, and nothing to warn of.
    if (this.#goesOn && !this.#warned) {
      this.#warned = true;
      this.#warn(
        `flow.${call} was called after its round had been answered; it never settles. Work outside of steps went ` +
          `on while a question or flow.detach was pending: put it into a step.`,
      );
    }
    return new Promise<T>(ignore);
  }

  /**
   * Runs the synchronous part of work. Only that can be watched without a cost for everybody; a question asked later
   * in a step is told of by a watchdog.
   */
  inside<R>(key: string, part: () => R): R {
    this.#insideWork = key;
    try {
      return part();
    } finally {
      this.#insideWork = undefined;
    }
  }

  /** @throws NestedCall within the synchronous part of work. */
  refuseNested(call: string): void {
    if (this.#insideWork !== undefined) throw new NestedCall(this.#insideWork, call);
  }

  #claim(call: string, key: string): void {
    this.refuseNested(call);
    if (
      typeof key !== 'string' ||
      key.length > MAX_KEY_LENGTH ||
      key === '__proto__' ||
      key.startsWith(RESERVED)
    ) {
      throw new InvalidKey(
        `The key of flow.${call} must be a string of at most ${MAX_KEY_LENGTH} characters, not '__proto__', and must ` +
          `not begin with the character U+0000.`,
      );
    }
    if (this.#used.has(key)) throw new KeyReused(key);
    this.#used.add(key);
  }
}

function describeCall(types: readonly KeyedEntry['type'][]): string {
  if (types.includes('answer')) return 'a question';
  if (types.includes('once')) return 'work done once';
  return types.includes('wait') ? 'a wait' : 'a step';
}

function ignore(): void {}
