import type { Pool } from 'pg';
import { ConfigurationError } from '../errors.js';
import type { TaskHost } from '../gate/index.js';
import { readSchemas, type SchemaOptions } from './postgres-schema.js';
import { PgTaskStore } from './postgres-store.js';
import { StoredTasks, type AudienceTasks } from './stored-tasks.js';

export { migrateTasks, tasksSql, type SchemaOptions } from './postgres-schema.js';

/** How tasks in Postgres are kept and run. Times are in ms. */
export interface PostgresTasksOptions extends SchemaOptions {
  /**
   * A pool of the `pg` package, of yours: listen for its `error` event (without a listener, a database that goes away
   * ends the process), give it a `connectionTimeoutMillis`, end it after {@link PostgresTasks.close}. Workers need at
   * least 3 connections, of which one listens all the time.
   */
  readonly pool: Pool;
  /** How long a task and its result are kept, unless `flow.detach` says otherwise. Default 24 hours. */
  readonly ttl?: number;
  /** How often clients are asked to look, unless `flow.detach` says otherwise. Default 2,000. */
  readonly pollInterval?: number;
  /** How often a worker looks for what others that died have left, at the latest. Default 5,000. */
  readonly sweepEvery?: number;
  /** How long a worker that stops waits for its runs; then it gives them back for others. Default 25,000. */
  readonly drain?: number;
  /** Called with what goes wrong beside the calls: in workers, which try again. Default: the Parley's logger. */
  readonly onError?: (error: unknown) => void;
}

const DAY = 86_400_000;

/** Tasks in Postgres. */
export class PostgresTasks extends StoredTasks {
  readonly #store: PgTaskStore;
  readonly #faults: Faults;

  /** @internal Use {@link postgresTasks}. */
  constructor(
    store: PgTaskStore,
    faults: Faults,
    options: { readonly ttl: number; readonly pollInterval: number },
  ) {
    super(store, options);
    this.#store = store;
    this.#faults = faults;
  }

  override open(host: TaskHost): AudienceTasks {
    this.#faults.warn ??= host.runHost.warn;
    return super.open(host);
  }

  /**
   * Removes what has expired, batch by batch, and resolves with how many tasks that were. Workers do it by themselves,
   * once a minute.
   */
  async sweep(): Promise<number> {
    return await this.#store.sweep();
  }
}

/**
 * Tasks in Postgres 12 or later, for any number of servers and workers. A waiting task is a row: no process and no
 * connection knows of it. The tables are made by {@link migrateTasks}, or by `parley tasks migrate`.
 *
 * What it needs: the role that made the tables (graphile-worker's are for their owner), the default isolation level
 * READ COMMITTED, and clocks that differ by no more than a second or so. Servers, which make and answer tasks, may reach
 * the database through pgbouncer in any mode. Workers and migrations need connections that keep their session: without
 * one, jobs are found by polling, once a second, and not at once.
 *
 * With `synchronous_commit = off`, or a failover to a replica that is behind, what was acknowledged can be lost.
 *
 * @throws ConfigurationError when `pool` is not a pool, or an option has a value that cannot be used.
 */
export function postgresTasks(options: PostgresTasksOptions): PostgresTasks {
  const { pool, ttl = DAY, pollInterval = 2_000, sweepEvery = 5_000, drain = 25_000, onError } = options;
  const usable: Partial<Pool> | undefined = pool;
  if (typeof usable?.query !== 'function' || typeof usable.connect !== 'function') {
    throw new ConfigurationError(
      "postgresTasks takes a pool of the 'pg' package: { pool: new pg.Pool({ … }) }.",
    );
  }
  for (const [name, value, least] of [
    ['sweepEvery', sweepEvery, 1],
    ['drain', drain, 0],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < least || value > MAX_TIMER) {
      throw new ConfigurationError(`${name} must be a whole number of ms, at least ${least}.`);
    }
  }
  const faults = new Faults(onError);
  const settings = { schemas: readSchemas(options), sweepEvery, drain, onError: faults.tell };
  return new PostgresTasks(new PgTaskStore(pool, settings), faults, { ttl, pollInterval });
}

/** The longest that a timer is set for. Longer ones fire at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** Where faults go that no caller hears of. */
class Faults {
  /** The logger of the Parley that has the tasks. */
  warn: ((message: string) => void) | undefined;
  readonly #onError: ((error: unknown) => void) | undefined;

  constructor(onError: ((error: unknown) => void) | undefined) {
    this.#onError = onError;
  }

  readonly tell = (error: unknown): void => {
    try {
      if (this.#onError !== undefined) this.#onError(error);
      else this.warn?.(`tasks in Postgres: ${error instanceof Error ? error.message : 'unknown error'}`);
    } catch {
      // A listener that throws must not end the worker.
    }
  };
}
