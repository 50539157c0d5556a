import type { WorkerPool } from 'graphile-worker';
import type { Pool } from 'pg';
import { ConfigurationError } from '../errors.js';
import { ignore, lent } from './postgres-pool.js';
import { checkQueue, loadGraphile, MIGRATE, silent, type Graphile } from './postgres-queue.js';
import type { Sql, Statements } from './postgres-statements.js';
import type { Sweeper } from './postgres-sweep.js';
import type { Fence, TaskWorker } from './store.js';

/** What a worker needs of its store. */
export interface WorkerHost {
  readonly pool: Pool;
  readonly sql: Sql;
  readonly statements: Pick<Statements, 'isDue' | 'isMigrated' | 'retry'>;
  readonly sweeper: Sweeper;
  /** The schema of graphile-worker. */
  readonly schema: string;
  readonly run: (id: string) => Promise<void>;
  readonly concurrency: number;
  readonly sweepEvery: number;
  readonly drain: number;
  readonly onError: (error: unknown) => void;
  /** The claim that this process has of a task. */
  readonly heldOf: (id: string) => Fence | undefined;
  /** Its run is over, whatever came of the claim. */
  readonly forget: (id: string) => void;
  readonly release: (claim: Fence, dueAt: number) => Promise<boolean>;
}

/** A run that failed is tried again after so long, in ms. */
const RETRY_AFTER = 1_000;

/** How often each free worker looks for jobs whose time has come, in ms. New ones are notified. */
const POLL = 1_000;

/** What graphile-worker makes the process exit with when it stops on such a message. This one goes on. */
const EXIT_OF_STOPPED = 57;

/** Least time between two sweeps, in ms. */
const SWEEP_PAUSE = 50;

/** What nobody needs any more is removed once in so many ms. */
const TIDY_EVERY = 60_000;

/** Runs what is due: graphile-worker finds it, and a sweep finds what workers that died have left. */
export class PgWorker implements TaskWorker {
  readonly #host: WorkerHost;
  readonly #running = new Map<string, number>();
  #workers: WorkerPool | undefined;
  #timer: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;
  #tidied = -Infinity;

  constructor(host: WorkerHost) {
    this.#host = host;
  }

  /** @throws ConfigurationError when the pool is too small, the tables are not there, or graphile-worker is missing. */
  async start(): Promise<void> {
    const { pool, sql, statements, schema, concurrency } = this.#host;
    if (pool.options.max < 3) {
      throw new ConfigurationError(
        `The pool has at most ${pool.options.max} connections, and a worker needs 3: one listens, one works, one sweeps.`,
      );
    }
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
      throw new ConfigurationError('concurrency must be a whole number, at least 1.');
    }
    const graphile = await loadGraphile();
    const { rows } = await pool.query<{ isMigrated: boolean }>(statements.isMigrated, [sql.tasks, sql.jobs]);
    if (rows[0]?.isMigrated !== true)
      throw new ConfigurationError(`The tables of tasks are not there. ${MIGRATE}`);
    await checkQueue(pool, schema);
    this.#begin(graphile);
    this.#sweepIn(0);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  #begin(graphile: Graphile): void {
    const { pool, sql, schema, concurrency, onError } = this.#host;
    const workers = graphile.runTaskList(
      {
        schema,
        concurrency,
        pollInterval: POLL,
        noHandleSignals: true, // the application's signals are its own
        noPreparedStatements: true, // they are not there behind pgbouncer
        logger: silent(graphile),
      },
      { [sql.identifier]: (payload) => this.#runJob(payload) },
      lent(pool),
    );
    this.#workers = workers;
    void workers.promise.catch(onError).finally(() => this.#beginAgain(graphile));
  }

  /**
   * graphile-worker has stopped, and not by us: some application migrates its own, which tells all workers of the
   * database to stop, whatever their schema. Where it was ours, this worker is too old to go on.
   */
  #beginAgain(graphile: Graphile): void {
    const { pool, schema, onError } = this.#host;
    if (this.#stopped !== undefined) return;
    if (process.exitCode === EXIT_OF_STOPPED) process.exitCode = undefined;
    this.#restart = setTimeout(() => {
      checkQueue(pool, schema).then(
        () => this.#stopped ?? this.#begin(graphile),
        (error: unknown) => {
          onError(error);
          if (!(error instanceof ConfigurationError)) this.#beginAgain(graphile);
        },
      );
    }, POLL);
  }

  async #runJob(payload: unknown): Promise<void> {
    const { pool, statements, run } = this.#host;
    const id = idOf(payload);
    if (id === undefined) return;
    const { rowCount } = await pool.query(statements.isDue, [id]);
    if (rowCount === 0) return;
    this.#running.set(id, (this.#running.get(id) ?? 0) + 1);
    try {
      await run(id);
    } catch (error) {
      this.#host.onError(error);
      await this.#tryLater(id);
    } finally {
      const left = (this.#running.get(id) ?? 1) - 1;
      if (left > 0) this.#running.set(id, left);
      else {
        this.#running.delete(id);
        this.#host.forget(id);
      }
    }
  }

  /** What cannot be written now is found by the sweep. */
  async #tryLater(id: string): Promise<void> {
    const { pool, statements, heldOf, release } = this.#host;
    const claim = heldOf(id);
    if (claim === undefined) await pool.query(statements.retry, [id, RETRY_AFTER]);
    else await release(claim, Date.now() + RETRY_AFTER);
  }

  #sweepIn(ms: number): void {
    if (this.#stopped !== undefined) return;
    this.#timer = setTimeout(() => void (this.#sweeping = this.#sweep()), ms);
  }

  async #sweep(): Promise<void> {
    const { sweeper, sweepEvery, onError } = this.#host;
    let next: number | undefined;
    try {
      next = await sweeper.recover(this.#workers?.id ?? '');
      if (performance.now() - this.#tidied >= TIDY_EVERY) {
        this.#tidied = performance.now();
        await sweeper.tidy();
      }
    } catch (error) {
      onError(error);
    }
    this.#sweepIn(Math.max(SWEEP_PAUSE, Math.min(sweepEvery, next ?? sweepEvery)));
  }

  async #stop(): Promise<void> {
    const { sweeper, drain, onError } = this.#host;
    clearTimeout(this.#timer);
    clearTimeout(this.#restart);
    const late = setTimeout(() => void this.#giveBack(), drain);
    try {
      await this.#workers?.gracefulShutdown();
      await this.#sweeping;
      await sweeper.leave(this.#workers?.id ?? '');
    } catch (error) {
      onError(error);
    } finally {
      clearTimeout(late);
    }
  }

  /** Others go on at once with what is still running here, which finds its claim lost and ends. */
  async #giveBack(): Promise<void> {
    for (const id of this.#running.keys()) {
      const claim = this.#host.heldOf(id);
      if (claim !== undefined) await this.#host.release(claim, Date.now()).catch(ignore);
    }
  }
}

function idOf(payload: unknown): string | undefined {
  const id = typeof payload === 'object' && payload !== null && 'id' in payload ? payload.id : undefined;
  return typeof id === 'string' ? id : undefined;
}
