import { ConfigurationError } from '../errors.js';
import { MemoryTaskStore } from './memory-store.js';
import type { TaskWorker } from './store.js';
import { StoredTasks, type Maker } from './stored-tasks.js';

/** How tasks in memory are bounded. Times in ms. */
export interface MemoryTasksOptions {
  /** Tasks at most, ended ones that have not expired included. A new one beyond that is refused. Default 10,000. */
  readonly maxTasks?: number;
  /** How many tasks run at a time; more wait. Default 16. */
  readonly concurrency?: number;
  /** How long a task and its result are kept, unless `flow.detach` says otherwise. Default 24 hours. */
  readonly ttl?: number;
  /** How often clients are asked to look, unless `flow.detach` says otherwise. Default 1,000. */
  readonly pollInterval?: number;
  /** The clock, in ms since 1970. For tests. */
  readonly now?: () => number;
}

/** Tasks in the memory of this process. */
export class MemoryTasks extends StoredTasks {
  readonly #store: MemoryTaskStore;
  readonly #workers: Promise<TaskWorker>;

  /** Use {@link memoryTasks}. */
  constructor(options: Required<MemoryTasksOptions>) {
    const { maxTasks, concurrency, ttl, pollInterval, now } = options;
    for (const [name, bound] of Object.entries({ maxTasks, concurrency })) {
      if (Number.isSafeInteger(bound) && bound > 0) continue;
      throw new ConfigurationError(`${name} must be a positive whole number.`);
    }
    const makers = new Map<string, Maker>();
    const store = new MemoryTaskStore({ maxTasks, now, onOver: (id) => void makers.delete(id) });
    super(store, { ttl, pollInterval, makers });
    this.#store = store;
    this.#workers = store.work(
      async (id) => {
        const maker = makers.get(id);
        await maker?.tasks.run(id, maker.runner);
      },
      { concurrency },
    );
  }

  /** Tasks held, ended ones and expired ones that were not yet swept included. */
  get size(): number {
    return this.#store.size;
  }

  /** Begins no more runs, waits for those under way, and forgets all tasks. */
  override async close(): Promise<void> {
    await (await this.#workers).stop();
    await super.close();
  }
}

/**
 * Tasks in the memory of this process, which also runs them: with the handler of the request that made each, and what
 * its server factory knew of that request. They end with the process. For stdio servers and single processes; beyond
 * one machine, or where a restart must lose nothing, use `postgresTasks`.
 *
 * ```ts
 * const parley = new Parley({ keys, tasks: memoryTasks() });
 * ```
 *
 * @throws ConfigurationError when a bound or a time is not a positive whole number.
 */
export function memoryTasks(options: MemoryTasksOptions = {}): MemoryTasks {
  const {
    maxTasks = 10_000,
    concurrency = 16,
    ttl = 24 * 60 * 60_000,
    pollInterval = 1_000,
    now = Date.now,
  } = options;
  return new MemoryTasks({ maxTasks, concurrency, ttl, pollInterval, now });
}
