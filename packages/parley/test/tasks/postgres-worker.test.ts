import { McpServer } from '@modelcontextprotocol/server';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { service } from '../../../../test/services/use.js';
import { ConfigurationError } from '../../src/errors.js';
import { generateKey, Parley } from '../../src/index.js';
import { startWorker } from '../../src/tasks/index.js';
import { postgresTasks } from '../../src/tasks/postgres.js';
import { sqlOf } from '../../src/tasks/postgres-statements.js';
import type { PgTaskStore } from '../../src/tasks/postgres-store.js';
import { Sweeper } from '../../src/tasks/postgres-sweep.js';
import { readSchemas } from '../../src/tasks/postgres-schema.js';
import { poolOf } from '../ledger/postgres-table.js';
import { mortalWorker } from './mortal-process.js';
import { claimed, migrated, newSchema, newTask, storeOn } from './postgres-harness.js';

const url = await service('postgres');

describe.skipIf(url === undefined)('workers of tasks in Postgres', () => {
  const pool = poolOf(url ?? '');
  const schema = newSchema();
  let drop = async (): Promise<void> => undefined;
  let store: PgTaskStore;
  let errors: unknown[] = [];

  beforeAll(async () => {
    drop = await migrated(pool, schema);
  });
  beforeEach(() => {
    errors = [];
    store = storeOn(pool, schema, { onError: (error) => errors.push(error) });
  });
  afterEach(async () => {
    await store.close();
    await pool.query(`DELETE FROM ${schema}.tasks; DELETE FROM ${schema}_worker._private_jobs`);
  });
  afterAll(async () => {
    await drop();
    await pool.end();
  });

  const jobs = async () => {
    const { rows } = await pool.query<{ key: string | null; locked_by: string | null }>(
      `SELECT key, locked_by FROM ${schema}_worker.jobs`,
    );
    return rows;
  };
  const stateOf = async (id: string) => (await store.read(id))?.state;
  /** Ends each task at once, and tells which. */
  const ending =
    (ended: string[], by = store) =>
    async (id: string) => {
      const claim = await by.claim(id, 60_000);
      if (claim === undefined) return;
      ended.push(id);
      await by.finish(claim, { state: 'completed', outcome: claim.journal.join(' | ') });
    };

  it('run each task once, on two workers, and leave no job behind', async () => {
    const ended: string[] = [];
    const other = storeOn(pool, schema);
    const workers = [
      await store.work(ending(ended), { concurrency: 3 }),
      await other.work(ending(ended, other), { concurrency: 3 }),
    ];
    const made = await Promise.all(Array.from({ length: 60 }, () => store.create(newTask())));
    await expect.poll(() => ended.length).toBe(60);
    for (const worker of workers) await worker.stop();
    expect(new Set(ended)).toEqual(new Set(made.map(({ id }) => id)));
    expect(ended).toHaveLength(60);
    expect(await jobs()).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('go on when the answers come, until the task ends', async () => {
    const seen: string[][] = [];
    await store.work(
      async (id) => {
        const claim = await store.claim(id, 60_000);
        if (claim === undefined) return;
        seen.push(claim.answers.map(({ value }) => value));
        if (claim.answers.length === 2) await store.finish(claim, { state: 'completed' });
        else await store.park(claim, { parked: 'two questions', wires: ['a', 'b'] });
      },
      { concurrency: 2 },
    );
    const { id } = await store.create(newTask());
    await expect.poll(async () => (await store.read(id))?.parked).toBe('two questions');
    await store.answer(id, [{ wire: 'b', value: 'second' }]);
    await store.answer(id, [{ wire: 'a', value: 'first' }]);
    await expect.poll(() => stateOf(id)).toBe('completed');
    expect(seen[0]).toEqual([]);
    expect(seen.at(-1)).toEqual(['second', 'first']);
  });

  it('take an answer that came during the run that did not see it', async () => {
    const seen: number[] = [];
    const { id } = await store.create(newTask());
    await store.park(await claimed(store, id), { parked: 'p', wires: ['a'], dueAt: Date.now() });
    await store.work(
      async (due) => {
        const claim = await store.claim(due, 60_000);
        if (claim === undefined) return;
        seen.push(claim.answers.length);
        if (seen.length > 1) return void (await store.finish(claim, { state: 'completed' }));
        await store.answer(id, [{ wire: 'a', value: 'meanwhile' }]);
        await store.park(claim, { parked: 'p', wires: ['a'] });
      },
      { concurrency: 2 },
    );
    await expect.poll(() => stateOf(id)).toBe('completed');
    expect(seen).toEqual([0, 1]);
  });

  it('look again at the time that was said', async () => {
    const ended: string[] = [];
    const { id } = await store.create(newTask());
    const dueAt = Date.now() + 300;
    await store.park(await claimed(store, id), { parked: 'p', wires: [], dueAt });
    await store.work(
      async (due) => {
        expect(Date.now()).toBeGreaterThanOrEqual(dueAt);
        await ending(ended)(due);
      },
      { concurrency: 1 },
    );
    await expect.poll(() => ended, { timeout: 10_000 }).toEqual([id]);
  });

  it('try a run again that rejects, with the claim or without one', async () => {
    for (const isClaimed of [true, false]) {
      let runs = 0;
      const { id } = await store.create(newTask());
      const worker = await store.work(
        async (due) => {
          runs += 1;
          if (runs === 1 && !isClaimed) throw new Error('before the claim');
          const claim = await claimed(store, due);
          if (runs === 1) throw new Error('after the claim');
          expect(claim.runs).toBe(1);
          await store.finish(claim, { state: 'completed' });
        },
        { concurrency: 1 },
      );
      await expect.poll(() => stateOf(id), { timeout: 10_000 }).toBe('completed');
      await worker.stop();
    }
    expect(errors).toEqual([new Error('after the claim'), new Error('before the claim')]);
  });

  describe('that die', () => {
    it('by SIGKILL in the middle of a step are taken over within the lease, and what they appended is there', async () => {
      const child = mortalWorker(url ?? '', schema, '1500');
      await child.says('ready');
      const { id } = await store.create(newTask());
      await child.says('claimed 1');
      child.signal('SIGKILL');
      await child.ended;
      const ended: string[] = [];
      await store.work(ending(ended), { concurrency: 1 });
      await expect.poll(() => stateOf(id), { timeout: 10_000 }).toBe('completed');
      expect(await store.read(id)).toMatchObject({ outcome: 'of the first worker' });
      expect(await store.append({ id, fence: 1 }, 'of a ghost')).toBe(false);
    });

    it('and come back find what they write refused', async () => {
      const child = mortalWorker(url ?? '', schema, '500');
      await child.says('ready');
      const { id } = await store.create(newTask());
      await child.says('claimed 1');
      child.signal('SIGSTOP');
      const ended: string[] = [];
      await store.work(ending(ended), { concurrency: 1 });
      await expect.poll(() => stateOf(id), { timeout: 10_000 }).toBe('completed');
      child.signal('SIGCONT');
      child.tell('write');
      expect(await child.says('wrote')).toBe('wrote false false');
      child.signal('SIGKILL');
      await child.ended;
      expect(await store.read(id)).toMatchObject({ state: 'completed', outcome: 'of the first worker' });
    });

    it('again and again are counted, so that somebody can give up', async () => {
      const { id } = await store.create(newTask());
      const sweeper = new Sweeper(pool, sqlOf(readSchemas({ schema })));
      for (const runs of [1, 2, 3]) {
        expect(await store.claim(id, 1)).toMatchObject({ runs, fence: runs });
        await pool.query('SELECT pg_sleep(0.01)');
        await sweeper.recover('pool-test');
      }
    });

    it('leave no lock in graphile-worker that anybody waits for', async () => {
      const sweeper = new Sweeper(pool, sqlOf(readSchemas({ schema })));
      const { id } = await store.create(newTask());
      const { id: done } = await store.create(newTask());
      await store.finish(await claimed(store, done), { state: 'completed' });
      await pool.query(
        `UPDATE ${schema}_worker._private_jobs SET locked_by = 'pool-dead', locked_at = now() - interval '2 minutes', attempts = 1;
         INSERT INTO ${schema}.task_workers VALUES ('pool-dead', now() - interval '2 minutes');
         UPDATE ${schema}.tasks SET due = now() - interval '1 minute' WHERE due IS NOT NULL`,
      );
      await sweeper.recover('pool-live');
      await sweeper.tidy();
      const left = await jobs();
      expect(left.map(({ locked_by }) => locked_by)).toEqual(left.map(() => null));
      expect(left.filter(({ key }) => key?.endsWith(id))).toHaveLength(1);
      // The one that the task got anew while the dead worker had the lock on the old one.
      expect(left.filter(({ key }) => key === null)).toEqual([]);
      const ended: string[] = [];
      await store.work(ending(ended), { concurrency: 1 });
      await expect.poll(() => ended).toEqual([id]);
      await expect.poll(jobs).toEqual([]);
    });
  });

  it.each([
    ['was removed', `DELETE FROM ${schema}_worker._private_jobs`],
    [
      'is locked by a worker that died before it claimed the task',
      `UPDATE ${schema}_worker._private_jobs SET locked_by = 'pool-dead', locked_at = now() - interval '10 seconds', attempts = 1`,
    ],
    ['was given up', `UPDATE ${schema}_worker._private_jobs SET attempts = max_attempts`],
    [
      'was put off for hours',
      `UPDATE ${schema}_worker._private_jobs SET run_at = now() + interval '6 hours'`,
    ],
  ])('find a task whose job %s', async (_, damage) => {
    const { id } = await store.create(newTask());
    await pool.query(`${damage}; UPDATE ${schema}.tasks SET due = now() - interval '1 minute'`);
    const ended: string[] = [];
    await store.work(ending(ended), { concurrency: 1 });
    await expect.poll(() => ended).toEqual([id]);
  });

  it('leave nothing of a task that was cancelled under a worker that died', async () => {
    const { id } = await store.create(newTask({ journal: 'journal' }));
    await store.park(await claimed(store, id), { parked: 'questions', wires: ['a'] });
    await claimed(store, id, 1);
    await pool.query('SELECT pg_sleep(0.01)');
    await pool.query(`UPDATE ${schema}.tasks SET cancelled = true WHERE id = $1`, [id]);
    await new Sweeper(pool, sqlOf(readSchemas({ schema }))).recover('pool-test');
    const { rows } = await pool.query(
      `SELECT state, parked, wires, due, (SELECT count(*)::int FROM ${schema}.task_journal WHERE task = id) AS chunks
       FROM ${schema}.tasks WHERE id = $1`,
      [id],
    );
    expect(rows).toEqual([{ state: 'cancelled', parked: null, wires: [], due: null, chunks: 0 }]);
  });

  it('tell the logger of their Parley what goes wrong, where nobody else wants to know', async () => {
    const warnings: string[] = [];
    const broken: Pool = Object.create(pool, {
      query: {
        value: (text: string, values: unknown[]) =>
          text.includes('task_workers') ? Promise.reject(new Error('no sweep')) : pool.query(text, values),
      },
    });
    const tasks = postgresTasks({ pool: broken, schema });
    const parley = new Parley({
      keys: generateKey(),
      tasks,
      logger: { warn: (text) => warnings.push(text) },
    });
    const worker = await startWorker(parley, () => {
      const mcp = new McpServer({ name: 'reports', version: '1.0.0' });
      parley.attach(mcp);
      return mcp;
    });
    await expect.poll(() => warnings.at(0)).toContain('tasks in Postgres: no sweep');
    await worker.stop();
    await tasks.close();
  });

  it('do nothing for a job that is one too many', async () => {
    const { id } = await store.create(newTask());
    await store.park(await claimed(store, id), { parked: 'p', wires: ['a'] });
    const runs: string[] = [];
    await store.work(async (due) => void runs.push(due), { concurrency: 1 });
    await expect.poll(jobs).toEqual([]);
    expect(runs).toEqual([]);
    expect(await store.claim(id, 1_000)).toMatchObject({ fence: 2 });
  });

  it('that stop wait for what runs, and give it back when that takes too long', async () => {
    const patient = storeOn(pool, schema, { drain: 60_000 });
    const hasty = storeOn(pool, schema, { drain: 0 });
    for (const [each, expected] of [
      [patient, true],
      [hasty, false],
    ] as const) {
      const { id } = await each.create(newTask());
      let begin = (): void => undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      let isMine: boolean | undefined;
      const worker = await each.work(
        async (due) => {
          const claim = await claimed(each, due);
          begin();
          if (!expected) await expect.poll(() => each.extend(claim, 60_000)).toBe('lost');
          isMine = await each.append(claim, 'chunk');
          if (isMine) await each.finish(claim, { state: 'completed' });
        },
        { concurrency: 1 },
      );
      await begun;
      await worker.stop();
      expect(isMine).toBe(expected);
      if (!expected) expect(await each.claim(id, 1_000)).toMatchObject({ fence: 2, runs: 1 });
      await each.close();
    }
  });

  it('go on after some other application tells all graphile-workers to stop', async () => {
    const ended: string[] = [];
    await store.work(ending(ended), { concurrency: 1 });
    await store.create(newTask());
    await expect.poll(() => ended.length).toBe(1);
    await pool.query("SELECT pg_notify('worker:migrate', json_build_object('breaking', true)::text)");
    await store.create(newTask());
    await expect.poll(() => ended.length, { timeout: 10_000 }).toBe(2);
    expect(process.exitCode).toBe(undefined);
  });

  it('stop for good when the tables are of a newer graphile-worker', async () => {
    await store.work(ending([]), { concurrency: 1 });
    const migrations = `${schema}_worker.migrations`;
    await pool.query(`INSERT INTO ${migrations} (id, breaking) VALUES (99, true)`);
    await pool.query("SELECT pg_notify('worker:migrate', json_build_object('breaking', true)::text)");
    await expect.poll(() => errors, { timeout: 10_000 }).toEqual([expect.any(ConfigurationError)]);
    await expect(store.work(ending([]), { concurrency: 1 })).rejects.toThrow(/newer version/);
    await pool.query(`DELETE FROM ${migrations} WHERE id = 99`);
    process.exitCode = undefined;
  });

  it('say what is missing before they begin', async () => {
    const nowhere = storeOn(pool, newSchema());
    await expect(nowhere.work(async () => undefined, { concurrency: 1 })).rejects.toThrow(
      /parley tasks migrate/,
    );
    const small = poolOf(url ?? '', { max: 2 });
    await expect(storeOn(small, schema).work(async () => undefined, { concurrency: 1 })).rejects.toThrow(
      /needs 3/,
    );
    await small.end();
    await expect(store.work(async () => undefined, { concurrency: 0 })).rejects.toThrow(/concurrency/);
  });

  it('live with connections that the database ends', async () => {
    const theirs = poolOf(url ?? '', { application_name: schema });
    const each = storeOn(theirs, schema);
    const ended: string[] = [];
    await each.work(ending(ended), { concurrency: 2 });
    await store.create(newTask());
    await expect.poll(() => ended.length).toBe(1);
    await pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
      schema,
    ]);
    await store.create(newTask());
    await expect.poll(() => ended.length, { timeout: 20_000 }).toBe(2);
    await each.close();
    await theirs.end();
  });

  it('have nothing to do with 10,000 tasks that wait: they are rows, and no job', async () => {
    await pool.query(`
      INSERT INTO ${schema}.tasks (id, flow, principal, head, parked, wires, ttl, poll_interval, created, updated, expires, mark_until)
      SELECT 'waiting-' || n, 'flow-' || n, 'p', 'head', 'questions', '{a}', 600000, 2000, now(), now(), now() + interval '1 h', now() + interval '1 h'
      FROM generate_series(1, 10000) AS n`);
    const statements: string[] = [];
    const spy: Pool = Object.create(pool, {
      query: {
        value: (text: string, values: unknown[]) => (statements.push(text), pool.query(text, values)),
      },
    });
    const sweeper = new Sweeper(spy, sqlOf(readSchemas({ schema })));
    expect(await sweeper.recover('pool-test')).toBe(undefined);
    const ofMany = statements.length;
    expect(await jobs()).toEqual([]);

    const ended: string[] = [];
    await store.work(ending(ended), { concurrency: 4 });
    await store.answer('waiting-7777', [{ wire: 'a', value: 'yes' }]);
    await expect.poll(() => ended).toEqual(['waiting-7777']);
    await pool.query(`DELETE FROM ${schema}.tasks`);
    statements.length = 0;
    await sweeper.recover('pool-test');
    expect(statements).toHaveLength(ofMany);
  });
});
