import { startWorker, memoryTasks } from 'mcp-parley/tasks';
import { migrateTasks, postgresTasks } from 'mcp-parley/tasks/postgres';
import { Pool } from 'pg';
import { startPostgres } from '../../test/services/index.js';
import { heapInUse } from '../fixtures/heap.js';
import { taskServer, type TaskServer } from '../fixtures/task-server.js';
import type { Bench, Row } from '../harness/row.js';
import { quantile, summarize, type Summary } from '../harness/stats.js';

/** Tasks whose memory is measured; a quick run takes fewer. */
const WAITING = 10_000;
const WAITING_QUICK = 1_000;

/** Most that a waiting task may hold of the heap, in bytes: it keeps the server of the request that made it. */
const EACH = 20_000;

/** Longest that an answer to a task on Postgres may take to complete it, in ms: a notification, and a few statements. */
const P99_MS = 100;

async function measureLatency(name: string, server: TaskServer, bench: Bench): Promise<void> {
  process.stderr.write(`  tasks: ${name}, from the last answer to completion\n`);
  const samples = bench.quick ? 100 : 1_000;
  await server.answer(await server.begin(100)); // so that compiled code does not count
  const ids = await server.begin(samples);
  const micros: number[] = [];
  for (const id of ids) {
    const before = performance.now();
    await server.answer([id]);
    micros.push((performance.now() - before) * 1_000);
  }
  const scenario = 'from the last answer to completion, one at a time';
  const p99 = quantile(
    micros.toSorted((a, b) => a - b),
    0.99,
  );
  bench.add({ scenario, subject: name, unit: 'µs', value: summarize(micros) });
  bench.add({ scenario, subject: `${name}, p99`, unit: 'µs', value: single(p99) });
  if (name === 'postgres')
    bench.judge(scenario, 'p99 on Postgres', p99, { atMost: P99_MS * 1_000, unit: 'µs' });
}

async function measureThroughput(name: string, server: TaskServer, bench: Bench): Promise<void> {
  process.stderr.write(`  tasks: ${name}, tasks a second\n`);
  const { rounds, batch } = bench.quick ? { rounds: 3, batch: 80 } : { rounds: 15, batch: 200 };
  const each: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = performance.now();
    await server.answer(await server.begin(batch));
    each.push(((performance.now() - before) * 1_000) / batch);
  }
  const scenario = 'a whole task of a step, a question and its answer, 16 at a time';
  bench.add({ scenario, subject: name, unit: 'µs', value: summarize(each) });
}

async function measureMemory(bench: Bench): Promise<void> {
  const waiting = bench.quick ? WAITING_QUICK : WAITING;
  process.stderr.write(`  tasks: memory, ${waiting} waiting tasks\n`);
  const tasks = memoryTasks({ maxTasks: 2 * WAITING });
  const server = taskServer(tasks);
  await server.begin(500); // so that compiled code does not count
  const before = await heapInUse();
  await server.begin(waiting);
  const bytes = (await heapInUse()) - before;
  await tasks.close();
  const scenario = `${waiting.toLocaleString('en')} tasks that wait for an answer`;
  bench.add({ scenario, subject: 'memory, heap after gc', unit: 'MB', value: single(bytes / 1e6) });
  bench.judge(scenario, 'each holds of the heap', bytes / waiting, { atMost: EACH, unit: 'bytes' });
}

/** What they take in the database, and in the process that made them. */
async function measureRows(server: TaskServer, pool: Pool, bench: Bench): Promise<void> {
  if (bench.quick) return; // making so many takes longer than the rest of the row
  process.stderr.write(`  tasks: postgres, ${WAITING} waiting tasks\n`);
  const before = { heap: await heapInUse(), size: await tableBytes(pool) };
  await server.begin(WAITING);
  const heap = ((await heapInUse()) - before.heap) / 1e6;
  const size = ((await tableBytes(pool)) - before.size) / 1e6;
  const scenario = `${WAITING.toLocaleString('en')} tasks that wait for an answer`;
  bench.add({ scenario, subject: 'postgres, tables and indexes', unit: 'MB', value: single(size) });
  bench.add({ scenario, subject: 'postgres, heap of the process after gc', unit: 'MB', value: single(heap) });
  bench.judge(scenario, 'on Postgres, the heap grows by', heap, { atMost: 5, unit: 'MB' });
}

async function tableBytes(pool: Pool): Promise<number> {
  await pool.query('VACUUM FULL parley.tasks, parley.task_journal, parley.task_answers');
  const { rows } = await pool.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
     WHERE relkind = 'r' AND nspname IN ('parley', 'parley_worker')`,
  );
  return Number(rows[0]?.bytes);
}

function single(value: number): Summary {
  return { median: value, p10: value, p90: value, rounds: 1 };
}

export default {
  title: 'Tasks: a tool of one step and one question that is a task from its start',
  leavesOut:
    'a network between server and store: Postgres runs on loopback without fsync, and the worker is in this process; the polls of a client',
  async measure(bench) {
    const inMemory = memoryTasks({ maxTasks: 2 * WAITING });
    const service = await startPostgres();
    const pool = new Pool({ connectionString: service.url, max: 24 });
    pool.on('error', () => undefined);
    try {
      await migrateTasks(pool);
      const inPostgres = postgresTasks({ pool });
      const servers = { memory: taskServer(inMemory), postgres: taskServer(inPostgres) };
      const worker = await startWorker(servers.postgres.parley, servers.postgres.makeServer);
      for (const [name, server] of Object.entries(servers)) await measureLatency(name, server, bench);
      for (const [name, server] of Object.entries(servers)) await measureThroughput(name, server, bench);
      await measureRows(servers.postgres, pool, bench);
      await worker.stop();
      await inPostgres.close();
      await inMemory.close();
      await measureMemory(bench);
    } finally {
      await pool.end();
      await service.dispose();
    }
  },
} satisfies Row;
