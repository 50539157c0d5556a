import { readFile } from 'node:fs/promises';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { service } from '../../../../test/services/use.js';
import { ConfigurationError } from '../../src/errors.js';
import { migrateTasks, postgresTasks, tasksSql } from '../../src/tasks/postgres.js';
import type { PgTaskStore } from '../../src/tasks/postgres-store.js';
import type { TaskClaim } from '../../src/tasks/store.js';
import { taskStoreCases } from '../../src/testing/index.js';
import { poolOf } from '../ledger/postgres-table.js';
import { claimed, migrated, newSchema, newTask, storeOn } from './postgres-harness.js';

const url = await service('postgres');

describe.skipIf(url === undefined)('the Postgres store of tasks', () => {
  const pool = poolOf(url ?? '');
  const schema = newSchema();
  const store = storeOn(pool, schema);
  const otherPool = poolOf(url ?? '');
  const other = storeOn(otherPool, schema);
  let drop = async (): Promise<void> => undefined;

  beforeAll(async () => {
    drop = await migrated(pool, schema);
  });
  afterAll(async () => {
    await store.close();
    await otherPool.end();
    await drop();
    await pool.end();
  });

  const jobsOf = async (id: string) => {
    const { rows } = await pool.query<{ due: boolean }>(
      `SELECT run_at <= now() AS due FROM ${schema}_worker.jobs WHERE key LIKE '%:' || $1`,
      [id],
    );
    return rows;
  };
  const parkedTask = async (wires: readonly string[], dueAt?: number): Promise<string> => {
    const { id } = await store.create(newTask());
    const claim = await claimed(store, id);
    await store.park(claim, { parked: 'questions', wires, ...(dueAt !== undefined && { dueAt }) });
    return id;
  };

  describe('as every store', () => {
    it.each(taskStoreCases)('$name', async ({ run }) => {
      await run(async () => ({ store: storeOn(pool, schema) }));
    });
  });

  it('gives one task to a flow that comes to many servers at the same time', async () => {
    const { flow } = newTask();
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? store : other).create(newTask({ flow }))),
    );
    expect(made.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });

  it('gives one claim of a task to many workers at the same time', async () => {
    const { id } = await store.create(newTask());
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? store : other).claim(id, 60_000)),
    );
    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
  });

  it('loses no answer that comes while its task is parked anew', async () => {
    await Promise.all(
      Array.from({ length: 60 }, async () => {
        const id = await parkedTask(['a', 'b']);
        const claim = await claimed(store, id);
        await Promise.all([
          other.answer(id, [{ wire: 'b', value: 'yes' }]),
          store.park(claim, { parked: 'again', wires: ['b'] }),
        ]);
        expect(await jobsOf(id)).toEqual([{ due: true }]);
        expect(await store.read(id)).toMatchObject({ answered: ['b'] });
        expect(await store.claim(id, 1_000)).toMatchObject({ answers: [{ wire: 'b', value: 'yes' }] });
      }),
    );
  });

  it('loses no answer that comes while its task is claimed', async () => {
    await Promise.all(
      Array.from({ length: 60 }, async () => {
        const id = await parkedTask(['a']);
        const [claim] = await Promise.all([
          claimed(store, id),
          other.answer(id, [{ wire: 'a', value: 'yes' }]),
        ]);
        if (claim.answers.length === 0) await store.park(claim, { parked: 'again', wires: ['a'] });
        const next = claim.answers.length === 0 ? await claimed(store, id) : claim;
        expect(next.answers).toEqual([{ wire: 'a', value: 'yes' }]);
      }),
    );
  });

  it('takes one of many answers under one wire', async () => {
    const id = await parkedTask(['a']);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? store : other).answer(id, [{ wire: 'a', value: `${n}` }]),
      ),
    );
    const { answers } = await claimed(store, id);
    expect(answers).toHaveLength(1);
    expect(await store.read(id)).toMatchObject({ answered: ['a'] });
  });

  it('makes no job for a task that waits, and one when it is due by itself', async () => {
    const waiting = await parkedTask(['a']);
    const timed = await parkedTask([], Date.now() + 60_000);
    const { rows } = await pool.query<{ due: Date | null }>(`SELECT due FROM ${schema}.tasks WHERE id = $1`, [
      waiting,
    ]);
    expect(rows).toEqual([{ due: null }]);
    // What is left of the first run is a job that was never taken: no worker runs here.
    expect(await jobsOf(timed)).toEqual([{ due: false }]);
  });

  it('extends all claims of a process with one statement, and tells each what it has', async () => {
    const statements: string[] = [];
    const spy: Pool = Object.create(pool, {
      query: {
        value: (text: string, values: unknown[]) => (statements.push(text), pool.query(text, values)),
      },
    });
    const watched = storeOn(spy, schema);
    const claims: TaskClaim[] = [];
    for (let n = 0; n < 12; n += 1) {
      const { id } = await store.create(newTask());
      claims.push(await claimed(store, id, 60_000));
    }
    const [first, second] = claims;
    await store.cancel(first?.id ?? '');
    await store.release(second ?? { id: '', fence: 0 }, Date.now());
    const found = await Promise.all(claims.map((claim) => watched.extend(claim, 60_000)));
    expect(found).toEqual(['cancelled', 'lost', ...Array.from({ length: 10 }, () => 'held')]);
    expect(statements).toHaveLength(1);
    await watched.close();
  });

  it('writes an extension once a third of the lease is used up', async () => {
    const { id } = await store.create(newTask());
    const claim = await claimed(store, id, 60_000);
    const lapses = async () => {
      const { rows } = await pool.query<{ lapses: Date }>(
        `SELECT lapses FROM ${schema}.tasks WHERE id = $1`,
        [id],
      );
      return rows[0]?.lapses.getTime() ?? 0;
    };
    const before = await lapses();
    expect(await store.extend(claim, 60_000)).toBe('held');
    expect(await lapses()).toBe(before);
    expect(await store.extend(claim, 120_000)).toBe('held');
    expect(await lapses()).toBeGreaterThan(before + 30_000);
  });

  describe('takes an id that nobody could have been given', () => {
    it.each([
      '',
      'a\0b',
      "' OR true --",
      '"; DROP TABLE tasks',
      'ä',
      '\ud800',
      'x'.repeat(10_000),
      '%',
      '../x',
      'a\n',
    ])('for an unknown one: %j', async (id) => {
      expect(await store.read(id)).toBe(undefined);
      expect(await store.claim(id, 1_000)).toBe(undefined);
      await store.cancel(id);
      await store.answer(id, [{ wire: 'a', value: 'b' }]);
    });

    it('also where it is no string', async () => {
      for (const id of [7, null, {}, ['a'], undefined]) {
        expect(await store.read(id as string)).toBe(undefined);
      }
    });
  });

  describe('removes what has expired', () => {
    const expire = (id: string) =>
      pool.query(`UPDATE ${schema}.tasks SET expires = now() - interval '1 s' WHERE id = $1`, [id]);
    const contentOf = async (id: string) => {
      const { rows } = await pool.query<Record<string, unknown>>(
        `SELECT head, principal, parked, note, outcome, (SELECT count(*)::int FROM ${schema}.task_journal WHERE task = id) AS chunks,
           (SELECT count(*)::int FROM ${schema}.task_answers WHERE task = id) AS answers FROM ${schema}.tasks WHERE id = $1`,
        [id],
      );
      return rows;
    };

    it('and keeps the mark that its flow made a task (T6)', async () => {
      const task = newTask({ journal: 'journal', markUntil: Date.now() + 600_000 });
      await store.create(task);
      const claim = await claimed(store, task.id);
      await store.note(claim, 'note');
      await store.park(claim, { parked: 'questions', wires: ['a'] });
      await store.answer(task.id, [{ wire: 'a', value: 'yes' }]);
      await expire(task.id);
      expect(await store.read(task.id)).toBe(undefined);
      expect(await store.claim(task.id, 1_000)).toBe(undefined);
      await store.sweep();
      const nothing = {
        head: null,
        principal: '',
        parked: null,
        note: null,
        outcome: null,
        chunks: 0,
        answers: 0,
      };
      expect(await contentOf(task.id)).toEqual([nothing]);
      expect(await store.create(newTask({ flow: task.flow }))).toEqual({ id: task.id, created: false });
    });

    it('and the mark when its time is over; then the flow makes another', async () => {
      const [swept, unswept] = [newTask(), newTask()];
      for (const { id } of [swept, unswept]) {
        await store.create(id === swept.id ? swept : unswept);
        await pool.query(
          `UPDATE ${schema}.tasks SET expires = now() - interval '1 s', mark_until = now() - interval '1 s' WHERE id = $1`,
          [id],
        );
      }
      const again = newTask({ flow: unswept.flow });
      expect(await store.create(again)).toEqual({ id: again.id, created: true });
      await store.sweep();
      expect(await contentOf(swept.id)).toEqual([]);
      const third = newTask({ flow: swept.flow });
      expect(await store.create(third)).toEqual({ id: third.id, created: true });
    });

    it('batch by batch', async () => {
      await store.sweep();
      const ids: string[] = [];
      for (let n = 0; n < 450; n += 1) ids.push((await store.create(newTask())).id);
      await pool.query(`UPDATE ${schema}.tasks SET expires = now() - interval '1 s' WHERE id = ANY ($1)`, [
        ids,
      ]);
      const batches: unknown[] = [];
      const spy: Pool = Object.create(pool, {
        query: {
          value: async (text: string, values: unknown[]) => {
            const result = await pool.query(text, values);
            if (text.includes('dropped_journal')) batches.push(result.rowCount);
            return result;
          },
        },
      });
      expect(await storeOn(spy, schema).sweep()).toBe(450);
      expect(batches).toEqual([200, 200, 50]);
    });

    it('without waiting for a row that somebody uses', async () => {
      const { id } = await store.create(newTask());
      await expire(id);
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query(`SELECT FROM ${schema}.tasks WHERE id = $1 FOR UPDATE`, [id]);
      expect(await store.sweep()).toBe(0);
      await client.query('ROLLBACK');
      client.release();
      expect(await store.sweep()).toBe(1);
    });
  });

  describe('is made', () => {
    it('by several at once, and again', async () => {
      const name = newSchema();
      await Promise.all(Array.from({ length: 6 }, () => migrateTasks(pool, { schema: name })));
      await migrateTasks(pool, { schema: name });
      await lifeOn(storeOn(pool, name));
      await pool.query(`DROP SCHEMA ${name}, ${name}_worker CASCADE`);
    });

    it('on a pool of one connection', async () => {
      const name = newSchema();
      const one = poolOf(url ?? '', { max: 1 });
      await migrateTasks(one, { schema: name, workerSchema: `${name}_queue` });
      await one.query(`DROP SCHEMA ${name}, ${name}_queue CASCADE`);
      await one.end();
    });

    it('without telling the workers of the database to stop', async () => {
      const name = newSchema();
      const client = await pool.connect();
      const heard: string[] = [];
      client.on('notification', ({ channel }) => heard.push(channel));
      await client.query('LISTEN "worker:migrate"');
      await migrateTasks(pool, { schema: name });
      await client.query("SELECT pg_notify('worker:migrate', '')");
      await client.query('SELECT 1');
      expect(heard).toEqual(['worker:migrate']);
      client.release(true);
      await pool.query(`DROP SCHEMA ${name}, ${name}_worker CASCADE`);
    });

    it('from the file that is exported', async () => {
      const file = await readFile(new URL('../../sql/tasks.sql', import.meta.url), 'utf8');
      expect(await tasksSql()).toBe(file);
      const named = await tasksSql({ schema: 'app' });
      expect(named).not.toMatch(/parley\.task|'parley'|SCHEMA parley/);
      expect(named).toContain('CREATE TABLE IF NOT EXISTS "app".tasks (');
    });

    it.each([
      '',
      'a b',
      'a"b',
      'a;drop schema x',
      'Upper',
      '1a',
      'a.b',
      'pg_tasks',
      'ä',
      'a\0',
      'x'.repeat(57),
      7,
      null,
      {},
    ])('under no such name: %j', async (name) => {
      const options = { schema: name as string };
      expect(() => postgresTasks({ pool, ...options })).toThrow(ConfigurationError);
      await expect(migrateTasks(pool, options)).rejects.toThrow(ConfigurationError);
      await expect(tasksSql(options)).rejects.toThrow(ConfigurationError);
    });

    it('under the longest name', async () => {
      const name = newSchema().padEnd(56, 'x');
      await migrateTasks(pool, { schema: name });
      await lifeOn(storeOn(pool, name));
      await pool.query(`DROP SCHEMA ${name}, ${name}_worker CASCADE`);
    });
  });

  it('refuses options that it cannot use', () => {
    const wrong = [
      { pool: {} as Pool },
      { pool: undefined as unknown as Pool },
      { pool, sweepEvery: 0 },
      { pool, sweepEvery: 1.5 },
      { pool, drain: -1 },
      { pool, drain: 2 ** 31 },
      { pool, ttl: 0 },
      { pool, pollInterval: 0.5 },
      { pool, schema: 'a', workerSchema: 'a' },
    ];
    for (const options of wrong) expect(() => postgresTasks(options)).toThrow(ConfigurationError);
  });

  it('works with a pool that has another search path and short time-outs', async () => {
    const theirs = poolOf(url ?? '', { options: '-c search_path=nowhere -c statement_timeout=5000' });
    await lifeOn(storeOn(theirs, schema));
    await theirs.end();
  });

  it('shows how many tasks stand how', async () => {
    const name = newSchema();
    const remove = await migrated(pool, name);
    const here = storeOn(pool, name);
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await here.create(newTask())).id);
    const [, running, waiting, timed, ended] = ids;
    await claimed(here, running ?? '');
    await here.park(await claimed(here, waiting ?? ''), { parked: 'p', wires: ['a'] });
    await here.park(await claimed(here, timed ?? ''), { parked: 'p', wires: [], dueAt: Date.now() + 60_000 });
    await here.finish(await claimed(here, ended ?? ''), { state: 'completed' });
    const { rows } = await pool.query<{ status: string; tasks: string }>(
      `SELECT status, tasks::int AS tasks FROM ${name}.task_status ORDER BY status`,
    );
    expect(rows).toEqual(
      ['completed', 'due', 'running', 'scheduled', 'waiting'].map((status) => ({ status, tasks: 1 })),
    );
    await remove();
  });
});

/** All calls once. */
async function lifeOn(store: PgTaskStore): Promise<void> {
  const task = newTask({ journal: 'first' });
  expect(await store.create(task)).toEqual({ id: task.id, created: true });
  expect(await store.read(task.id)).toMatchObject({
    createdAt: task.createdAt,
    ttl: 60_000,
    pollInterval: 2_000,
  });
  const claim = await claimed(store, task.id);
  expect(claim).toMatchObject({ fence: 1, runs: 1, journal: ['first'], expiresAt: task.expiresAt });
  expect(await store.append(claim, 'second')).toBe(true);
  expect(await store.note(claim, 'note')).toBe(true);
  expect(await store.extend(claim, 60_000)).toBe('held');
  expect(await store.park(claim, { parked: 'p', wires: ['a'] })).toBe(true);
  await store.answer(task.id, [{ wire: 'a', value: 'yes' }]);
  const next = await claimed(store, task.id);
  expect(next).toMatchObject({
    fence: 2,
    journal: ['first', 'second'],
    answers: [{ wire: 'a', value: 'yes' }],
  });
  expect(await store.release(next, Date.now())).toBe(true);
  const last = await claimed(store, task.id);
  expect(last).toMatchObject({ fence: 3, runs: 1 });
  expect(await store.finish(last, { state: 'completed', outcome: 'o' })).toBe(true);
  expect(await store.read(task.id)).toMatchObject({ state: 'completed', outcome: 'o', note: 'note' });
  await store.cancel(task.id);
  await store.sweep();
  await store.close();
}
