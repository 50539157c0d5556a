/**
 * Tasks on Postgres, over processes that are killed at random and started again: every task ends, and nothing is lost
 * or done twice. What is checked stands in `checker.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generateKey } from 'mcp-parley';
import { migrateLedger } from 'mcp-parley/ledger/postgres';
import { migrateTasks } from 'mcp-parley/tasks/postgres';
import { Pool } from 'pg';
import { tellGuard } from '../../test/services/guard.js';
import { startPostgres } from '../../test/services/index.js';
import { Fleet } from '../fleet.js';
import { Random } from '../random.js';
import { Timeline } from '../timeline.js';
import { check, resultOf } from './checker.js';
import { TaskClient, type Reply } from './client.js';
import { createDeeds, readDeeds, type Deed } from './effects.js';
import { Errand, type ErrandReport } from './errand.js';
import { TaskReport } from './task-report.js';
import type { ErrandArguments } from './wire.js';

/** How a run is made. */
export interface TasksRun {
  readonly tasks: number;
  readonly seed: string;
  readonly verbose: boolean;
}

const WORKERS = ['a', 'b', 'c'];

/** Errands that are under way at once. */
const LANES = 48;

/** Pause from the return of a process to the next kill, in ms. */
const KILL_MS = [200, 1_500] as const;

/** Processes that a run must have lost, for every 100 tasks. */
const KILLS_PER_100 = 2;

/** Gives the exit code: 0 when nothing was violated and enough was killed. */
export async function runTasks({ tasks, seed, verbose }: TasksRun): Promise<number> {
  const closing: (() => void | Promise<void>)[] = [];
  try {
    return await run(tasks, new Random(`${seed}/tasks`), new TaskReport({ tasks, seed, verbose }), closing);
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

async function run(
  tasks: number,
  random: Random,
  report: TaskReport,
  closing: (() => void | Promise<void>)[],
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-chaos-tasks-'));
  tellGuard('remove', folder);
  closing.push(() => {
    rmSync(folder, { recursive: true, force: true });
    tellGuard('keep', folder);
  });
  const postgres = await startPostgres();
  closing.push(() => postgres.dispose());
  const pool = new Pool({ connectionString: postgres.url, max: 2 });
  closing.push(() => pool.end());
  await migrateLedger(pool);
  await migrateTasks(pool);
  await createDeeds(pool);

  const file = join(folder, 'deeds.jsonl');
  writeFileSync(file, '');
  const env = { CHAOS_POSTGRES: postgres.url, CHAOS_EFFECTS: file, CHAOS_SEED: report.seed };
  const script = fileURLToPath(new URL('worker.ts', import.meta.url));
  const fleet = await Fleet.start(
    WORKERS,
    generateKey(),
    env,
    new Timeline(),
    {
      message: (message) => {
        if (message.type === 'warning') report.warning(message.text);
      },
      killed: () => report.count('died in their work'),
      crash: (detail) => report.violation(detail),
    },
    script,
  );
  closing.push(() => fleet.end());

  const ports = fleet.servers.map(({ port }) => port);
  const client = new TaskClient(ports, random.fork('client'), () => report.count('requests sent again'));
  let isOver = false;
  const killing = kill(fleet, random.fork('kills'), report, () => isOver);
  const reports = await runErrands(tasks, client, random, report);
  isOver = true;
  await killing;

  const last = new Map<string, Reply>();
  for (const id of reports.flatMap(({ taskIds }) => [...taskIds])) {
    last.set(id, await client.call('tasks/get', id, { taskId: id }));
  }
  for (const { taskIds } of reports.filter(({ end }) => end === undefined)) {
    for (const id of taskIds) report.note(await standingOf(id, pool));
  }
  const deeds = await readDeeds(file, pool);
  summarize(reports, deeds, report);
  for (const violation of check({ reports, last, deeds })) report.violation(violation);
  const kills = report.countOf('killed') + report.countOf('died in their work');
  const missing = kills < (tasks * KILLS_PER_100) / 100 ? [`processes killed: ${kills}`] : [];
  report.print(missing);
  return report.violations === 0 && missing.length === 0 ? 0 : 1;
}

/** How a task stands that did not end: what to look at first. */
async function standingOf(id: string, pool: Pool): Promise<string> {
  const { rows } = await pool.query(
    `SELECT state, fence, runs, chunks, cancelled, due - now() AS due, lapses - now() AS lapses, updated - now() AS updated,
       cardinality(wires) AS open, (SELECT count(*) FROM parley.task_answers WHERE task = id) AS answers,
       (SELECT json_agg(json_build_object('attempts', attempts, 'runIn', run_at - now(), 'locked', now() - locked_at))
        FROM parley_worker.jobs WHERE key = 'parley:parley:' || t.id) AS jobs
     FROM parley.tasks AS t WHERE id = $1`,
    [id],
  );
  return `a task that did not end: ${JSON.stringify(rows[0])}`;
}

/** Kills one process after another, without a warning. The next one when the last is back: somebody must work. */
async function kill(fleet: Fleet, random: Random, report: TaskReport, isOver: () => boolean): Promise<void> {
  for (;;) {
    await sleep(random.int(...KILL_MS));
    const victim = random.pick(fleet.servers);
    if (isOver() || victim === undefined) return;
    report.count('killed');
    await victim.restart();
  }
}

/** Runs errands in lanes, one after another in each. */
async function runErrands(
  tasks: number,
  client: TaskClient,
  random: Random,
  report: TaskReport,
): Promise<readonly ErrandReport[]> {
  const reports: ErrandReport[] = [];
  let begun = 0;
  let longest = 0;
  const lane = async (): Promise<void> => {
    while (begun < tasks) {
      begun += 1;
      const draw = random.fork('errand', begun);
      const args: ErrandArguments = {
        label: `errand-${begun}`,
        together: draw.chance(0.6),
        effective: draw.chance(0.5) ? 'log' : 'transaction',
      };
      const from = performance.now();
      const errand = new Errand(client, draw, args, (mischief) => report.mischief(mischief));
      reports.push(await errand.run());
      longest = Math.max(longest, performance.now() - from);
      report.progress(reports.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, tasks) }, lane));
  report.count('longest task, in seconds', Math.round(longest / 1_000));
  return reports;
}

function summarize(reports: readonly ErrandReport[], deeds: readonly Deed[], report: TaskReport): void {
  for (const each of reports) {
    report.count(`ended: ${each.end?.status ?? 'not'}`);
    if (resultOf(each)?.effect === 'unknown') report.count('told that the outcome of once is not known');
  }
  const steps = deeds.filter(({ kind }) => kind === 'step').length;
  report.count('steps run', steps);
  report.count(
    'steps on record',
    reports.reduce((sum, each) => sum + (resultOf(each)?.steps.length ?? 0), 0),
  );
}
