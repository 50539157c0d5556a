import type { Pool } from 'pg';
import { ExtendBatch } from './postgres-extend.js';
import { transaction } from './postgres-pool.js';
import type { Schemas } from './postgres-schema.js';
import { sqlOf, statementsOf, type Sql, type Statements } from './postgres-statements.js';
import { Sweeper } from './postgres-sweep.js';
import { PgWorker } from './postgres-worker.js';
import type {
  Fence,
  NewTask,
  Parked,
  StoredAnswer,
  TaskClaim,
  TaskEnd,
  TaskRow,
  TaskState,
  TaskStore,
  TaskWorker,
  WorkOptions,
} from './store.js';

/** How a store is run; see `PostgresTasksOptions`. */
export interface StoreSettings {
  readonly schemas: Schemas;
  readonly sweepEvery: number;
  readonly drain: number;
  readonly onError: (error: unknown) => void;
}

/** What no task is called is not looked for: Postgres takes no NUL in a text, and an id comes from the wire. */
const ID = /^[\w-]{1,64}$/;

/** A mark may be removed, or a flow make its task, between two looks. */
const ATTEMPTS = 5;

type Nullable<T> = {
  readonly [K in keyof T]: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};

/**
 * Tasks in Postgres. Each call is one statement, or one transaction that locks the task's row first. What makes a task
 * due, and its job for graphile-worker, commit together. The row says whether it is due; a job only makes a worker look,
 * so one too many does nothing, and one that is missing is found by the sweep.
 */
export class PgTaskStore implements TaskStore {
  readonly #pool: Pool;
  readonly #settings: StoreSettings;
  readonly #sql: Sql;
  readonly #statements: Statements;
  readonly #extends: ExtendBatch;
  readonly #sweeper: Sweeper;
  readonly #workers = new Set<TaskWorker>();
  /** Claims that were given to this process, so that they can be given back. */
  readonly #held = new Map<string, Fence>();

  constructor(pool: Pool, settings: StoreSettings) {
    this.#pool = pool;
    this.#settings = settings;
    this.#sql = sqlOf(settings.schemas);
    this.#statements = statementsOf(this.#sql);
    this.#extends = new ExtendBatch(pool, this.#statements.extend);
    this.#sweeper = new Sweeper(pool, this.#sql);
  }

  async create(task: NewTask): Promise<{ readonly id: string; readonly created: boolean }> {
    const { id, flow, principal, head, journal, createdAt, ttl, expiresAt, pollInterval, markUntil } = task;
    const times = [createdAt, ttl, pollInterval, expiresAt, markUntil];
    const values = [id, flow, principal, head, ...times, journal ?? null];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      if ((await this.#count(this.#statements.create, values)) === 1) return { id, created: true };
      const { rows } = await this.#pool.query<{ id: string; isOver: boolean }>(this.#statements.made, [flow]);
      const [made] = rows;
      if (made?.isOver === false) return { id: made.id, created: false };
      await this.#count(this.#statements.dropMark, [flow]);
    }
    throw new Error('The task could not be made: its flow makes others at the same time.');
  }

  async read(id: string): Promise<TaskRow | undefined> {
    if (!ID.test(id)) return undefined;
    const { rows } = await this.#pool.query<Nullable<TaskRow> & { readonly state: TaskState }>(
      this.#statements.read,
      [id],
    );
    const [row] = rows;
    if (row === undefined) return undefined;
    const { parked, outcome, note, ...rest } = row;
    return {
      ...rest,
      ...(parked !== null && { parked }),
      ...(outcome !== null && { outcome }),
      ...(note !== null && { note }),
    };
  }

  async answer(id: string, answers: readonly StoredAnswer[]): Promise<void> {
    if (!ID.test(id) || answers.length === 0) return;
    await transaction(this.#pool, async (client) => {
      const { rows } = await client.query<{ wires: readonly string[]; isFree: boolean }>(
        this.#statements.lockForAnswer,
        [id],
      );
      const [task] = rows;
      const open = answers.filter(({ wire }) => task?.wires.includes(wire) === true);
      if (task === undefined || open.length === 0) return false;
      const columns = [open.map(({ wire }) => wire), open.map(({ value }) => value)];
      const { rowCount } = await client.query(this.#statements.answer, [id, ...columns, task.isFree]);
      if (rowCount !== 1) return false;
      // While a run is under way, `park` looks for what came (T4), and the sweep takes over a run that never parks.
      if (task.isFree) await client.query(this.#statements.addJob, [id]);
      return true;
    });
  }

  async cancel(id: string): Promise<void> {
    if (ID.test(id)) await this.#count(this.#statements.cancel, [id]);
  }

  async claim(id: string, lease: number): Promise<TaskClaim | undefined> {
    if (!ID.test(id)) return undefined;
    type Claimed = Nullable<Omit<TaskClaim, 'journal' | 'answers'>>;
    const { rows } = await this.#pool.query<Claimed>(this.#statements.claim, [id, lease]);
    const [claimed] = rows;
    if (claimed === undefined) return undefined;
    const { parked, ...rest } = claimed;
    this.#held.set(id, { id, fence: claimed.fence });
    const content = await this.#pool.query<Record<'journal' | 'wires' | 'values', readonly string[]>>(
      this.#statements.content,
      [id],
    );
    const { journal = [], wires = [], values = [] } = content.rows[0] ?? {};
    const answers = wires.map((wire, index) => ({ wire, value: values[index] ?? '' }));
    return { ...rest, ...(parked !== null && { parked }), journal, answers };
  }

  async extend(claim: Fence, lease: number): Promise<'held' | 'cancelled' | 'lost'> {
    const found = await this.#extends.extend(claim, lease);
    if (found === 'lost') this.#forget(claim);
    return found;
  }

  async append({ id, fence }: Fence, chunk: string): Promise<boolean> {
    return (await this.#count(this.#statements.append, [id, fence, chunk])) === 1;
  }

  async note({ id, fence }: Fence, message: string): Promise<boolean> {
    return (await this.#count(this.#statements.note, [id, fence, message])) === 1;
  }

  async park(claim: Fence, { parked, wires, dueAt, journal }: Parked): Promise<boolean> {
    const { id, fence } = claim;
    const values = [id, fence, parked, [...wires], dueAt ?? null];
    const isParked = await transaction(this.#pool, async (client) => {
      const { rows } = await client.query<{ chunks: number }>(this.#statements.park, values);
      const [row] = rows;
      if (row === undefined) return false;
      if (journal !== undefined) await client.query(this.#statements.rewrite, [id, row.chunks, journal]);
      await client.query(this.#statements.settle, [id, [...wires]]);
      return true;
    });
    if (isParked) this.#forget(claim);
    return isParked;
  }

  async finish(claim: Fence, { state, outcome }: TaskEnd): Promise<boolean> {
    const { id, fence } = claim;
    const isEnded = (await this.#count(this.#statements.finish, [id, fence, state, outcome ?? null])) === 1;
    this.#forget(claim);
    return isEnded;
  }

  async release(claim: Fence, dueAt: number): Promise<boolean> {
    const { id, fence } = claim;
    const isGiven = (await this.#count(this.#statements.release, [id, fence, dueAt])) === 1;
    this.#forget(claim);
    return isGiven;
  }

  async work(run: (id: string) => Promise<void>, { concurrency }: WorkOptions): Promise<TaskWorker> {
    const { schemas, sweepEvery, drain, onError } = this.#settings;
    const worker = new PgWorker({
      pool: this.#pool,
      sql: this.#sql,
      statements: this.#statements,
      sweeper: this.#sweeper,
      schema: schemas.queue,
      run,
      concurrency,
      sweepEvery,
      drain,
      onError,
      heldOf: (id) => this.#held.get(id),
      forget: (id) => void this.#held.delete(id),
      release: (claim, dueAt) => this.release(claim, dueAt),
    });
    await worker.start();
    this.#workers.add(worker);
    return worker;
  }

  /** Removes what has expired, batch by batch, and resolves with how many tasks that were. */
  async sweep(): Promise<number> {
    return await this.#sweeper.removeExpired();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop()));
    this.#extends.close();
  }

  async #count(statement: string, values: readonly unknown[]): Promise<number> {
    const { rowCount } = await this.#pool.query(statement, [...values]);
    return rowCount ?? 0;
  }

  #forget({ id, fence }: Fence): void {
    if (this.#held.get(id)?.fence === fence) this.#held.delete(id);
  }
}
