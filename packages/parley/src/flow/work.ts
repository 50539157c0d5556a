import { ConfigurationError, InvalidKey } from '../errors.js';
import type { LazyAbort } from './abort.js';
import { attempt, failureEntry, recordedFailure, type Attempt } from './attempt.js';
import type { Entrance } from './entrance.js';
import type { OnceOptions, StepContext, WaitOptions } from './flow.js';
import type { Replay } from './replay.js';
import type { RunInput } from './run-input.js';
import type { Timers } from './timers.js';
import { Waits } from './waits.js';
import { WorkContext } from './work-context.js';

/** The types of entry that a call may find under its key: done, failed. */
type WorkEntries =
  readonly ['step', 'step-failed'] | readonly ['wait', 'wait-failed'] | readonly ['once', 'once-failed'];
const STEP_ENTRIES: WorkEntries = ['step', 'step-failed'];
const WAIT_ENTRIES: WorkEntries = ['wait', 'wait-failed'];
const ONCE_ENTRIES: WorkEntries = ['once', 'once-failed'];

/** What the work of a run is done with. */
export interface WorkParts {
  readonly input: Pick<RunInput<unknown>, 'once' | 'looksOnce' | 'heartbeat'>;
  readonly entrance: Entrance;
  readonly replay: Replay;
  readonly timers: Timers;
  readonly abort: LazyAbort;
  /** Ends the run: it cannot be told what came of work. */
  readonly fail: (error: unknown) => void;
}

/** The calls of one run that work: each settled by the journal, or by doing it (F4, F5). */
export class Work {
  readonly #parts: WorkParts;
  readonly #running = new Set<string>();
  #context: WorkContext | undefined;
  #waits: Waits | undefined;

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  /** Keys of the steps that run. Polls of a wait do not count: a question need not wait for them. */
  get running(): ReadonlySet<string> {
    return this.#running;
  }

  /** Whether there are waits, and the time of all of them is over. */
  get waitsExpired(): boolean {
    return this.#waits?.expired === true;
  }

  /** Milliseconds after which a wait wants to look again; undefined when nothing waits. */
  get every(): number | undefined {
    return this.#waits?.every;
  }

  /** Does what is recorded as a step. */
  step<R>(key: string, fn: (context: StepContext) => R): Promise<Awaited<R>> {
    return this.#work<Awaited<R>>('step', key, STEP_ENTRIES, (settle) => {
      this.#running.add(key);
      this.#begin(() => {
        void this.#attempt(key, fn).then((result) => {
          this.#running.delete(key);
          settle(result);
          this.#parts.replay.end();
        });
      });
    });
  }

  /** Looks again and again, until there is a value. */
  waitFor<R>(
    key: string,
    check: (context: StepContext) => R,
    { every = 1_000, hold = 20_000 }: WaitOptions,
  ): Promise<NonNullable<Awaited<R>>> {
    const { replay, timers, entrance, input } = this.#parts;
    return this.#work<NonNullable<Awaited<R>>>('waitFor', key, WAIT_ENTRIES, (settle) => {
      this.#waits ??= new Waits({
        begin: (work) => this.#begin(work),
        end: () => replay.end(),
        called: () => replay.called(),
        after: (ms, callback) => timers.after(ms, callback),
        isOver: () => entrance.over,
        looksOnce: input.looksOnce === true,
      });
      this.#waits.start({ every, hold, check: () => this.#attempt(key, check), settle });
    });
  }

  /** Does what happens at most once over all instances. */
  once<R>(key: string, fn: () => R, options: OnceOptions): Promise<Awaited<R>> {
    const { replay, entrance, input, fail } = this.#parts;
    return this.#work<Awaited<R>>('once', key, ONCE_ENTRIES, (settle) => {
      const { once } = input;
      if (once === undefined)
        throw new ConfigurationError('flow.once needs a ledger: new Parley({ ledger }).');
      const { id, keep } = options;
      if (keep !== undefined && !(Number.isSafeInteger(keep) && keep > 0)) {
        throw new RangeError('keep must be a positive whole number of milliseconds.');
      }
      if ('id' in options && typeof id !== 'string') {
        throw new InvalidKey(`The id of flow.once('${key}') is not a string.`);
      }
      this.#running.add(key);
      const run = (work: () => unknown): Promise<Attempt> => this.#attempt(key, work);
      this.#begin(() => {
        once({ key, id, keep, work: fn, attempt: run, isOver: () => entrance.over })
          .then(settle, fail)
          .finally(() => {
            this.#running.delete(key);
            replay.end();
          });
      });
    });
  }

  #work<T>(
    call: 'step' | 'waitFor' | 'once',
    key: string,
    types: WorkEntries,
    start: (settle: (result: Attempt) => void) => void,
  ): Promise<T> {
    const { entrance, replay } = this.#parts;
    const [done, failed] = types;
    return entrance.enter<T>(call, key, types, (recorded, resolve, reject) => {
      if (recorded !== undefined) {
        replay.deliverRecorded(key, (keep) => {
          keep();
          if (recorded.type === failed) reject(recordedFailure(recorded));
          else resolve(('value' in recorded ? recorded.value : undefined) as T);
        });
        return;
      }
      start((result) => {
        if ('failure' in result) {
          const { failure } = result;
          replay.deliverLive(failureEntry(failed, key, failure), () => reject(failure));
        } else {
          const { value } = result;
          const entry = value === undefined ? { type: done, key } : { type: done, key, value };
          replay.deliverLive(entry, () => resolve(value as T));
        }
      });
      replay.called();
    });
  }

  /** Begins work that must end before the run may rest: now, or when all that was recorded before it is durable (F5). */
  #begin(work: () => void): void {
    this.#parts.replay.begin();
    this.#whenDurable(work);
  }

  /** Looks again after each commit: other branches may have drawn meanwhile, and the work can see what they have. */
  #whenDurable(work: () => void): void {
    const { replay } = this.#parts;
    const pending = replay.durable();
    if (pending === undefined) work();
    else void replay.whenDurable(pending, () => this.#whenDurable(work));
  }

  #attempt<R>(key: string, fn: (context: StepContext) => R): Promise<Attempt> {
    const { abort, entrance, input } = this.#parts;
    const context = (this.#context ??= new WorkContext(abort, input.heartbeat));
    return attempt(key, () => entrance.inside(key, () => fn(context)), context);
  }
}
