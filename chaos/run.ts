/** `npm run chaos`: starts a fleet behind nginx, lets clients and faults loose on it, and checks what came of it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generateKey } from 'mcp-parley';
import { migrateLedger } from 'mcp-parley/ledger/postgres';
import { Pool } from 'pg';
import { tellGuard } from '../test/services/guard.js';
import { MissingBinary, startPostgres, startRedis } from '../test/services/index.js';
import { check } from './checker.js';
import { Client } from './client.js';
import { Crowd } from './crowd.js';
import { createEffectsTable, readEffects } from './effects.js';
import { FaultProxy } from './fault-proxy.js';
import { FaultDriver } from './faults.js';
import { Fleet, freePorts } from './fleet.js';
import { startNginx } from './nginx.js';
import { Random } from './random.js';
import { FAULTS, Report, type FaultName } from './report.js';
import { runTasks } from './tasks/run.js';
import { Timeline } from './timeline.js';
import type { ServerMessage } from './wire.js';
import { Witness } from './witness.js';

const HELP = `Usage: npm run chaos -- [tasks] [options]

Runs four servers behind nginx on this machine, with Redis and Postgres as
ledgers, breaks all of them again and again while clients redeem coupons, and
checks that everything happened at most once. Then runs tasks on Postgres, over
three workers that are killed at random, and checks that each of them ended
with what was answered. With 'tasks', only that.

Options:
  --quick      under three minutes; only tasks: under one
  --seed TEXT  make the decisions of an earlier run again; timing stays real
  --verbose    tell each fault as it happens
  -h, --help   show this

Exits with 0 when nothing was violated and enough was tried, 1 when not,
2 when an option is wrong.
`;

/** What a run must reach, and how long it may take, in ms. */
interface Size {
  readonly flows: number;
  /** Goes on for so long, also when everything else is reached, in ms. */
  readonly least: number;
  readonly limit: number;
  readonly atLeast: Readonly<Record<FaultName, number>>;
  readonly rotations: number;
}

const QUICK: Size = {
  flows: 2_000,
  least: 60_000,
  limit: 105_000,
  atLeast: {
    kill: 20,
    crash: 5,
    stall: 5,
    redis: 4,
    postgres: 4,
    partition: 10,
    late: 20,
    rotation: 3,
    cut: 40,
    'cut-half': 20,
    double: 80,
    race: 30,
    again: 50,
    other: 50,
    foreign: 20,
    dropped: 5,
  },
  rotations: 1,
};

const FULL: Size = { ...QUICK, flows: 15_000, least: 5 * 60_000, limit: 15 * 60_000, rotations: 8 };

/** Tasks of a run. */
const QUICK_TASKS = 100;
const FULL_TASKS = 1_000;

/** Faults of all kinds together that a run must reach. */
const FAULTS_AT_LEAST = 200;

const SERVERS = ['a', 'b', 'c', 'd'];

/** Exit codes of a process that a signal ended, as shells tell them. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Longest for what is under way to end after the clients were told to stop, in ms. */
const GRACE_MS = 60_000;

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  if (typeof options === 'string') {
    console.error(`${options}\nSee npm run chaos -- --help.`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  // Leaving through `process.exit` ends the servers; the guard of the services sees to everything else.
  for (const [signal, code] of Object.entries(SIGNALS)) process.once(signal, () => process.exit(code));
  const report = new Report({ verbose: options.verbose });
  const closing: (() => void | Promise<void>)[] = [];
  try {
    const rounds = options.onlyTasks
      ? 0
      : await run(options.quick ? QUICK : FULL, options.seed, report, closing);
    for (const close of closing.splice(0).toReversed()) await close();
    const { quick, seed, verbose } = options;
    return Math.max(rounds, await runTasks({ tasks: quick ? QUICK_TASKS : FULL_TASKS, seed, verbose }));
  } catch (error) {
    report.clear();
    if (!(error instanceof MissingBinary)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

async function run(
  size: Size,
  seed: string,
  report: Report,
  closing: (() => void | Promise<void>)[],
): Promise<number> {
  const random = new Random(seed);
  const timeline = new Timeline();
  const folder = mkdtempSync(join(tmpdir(), 'parley-chaos-'));
  tellGuard('remove', folder);
  closing.push(() => {
    rmSync(folder, { recursive: true, force: true });
    tellGuard('keep', folder);
  });

  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  closing.push(async () => void (await Promise.all([redis.dispose(), postgres.dispose()])));
  const pool = new Pool({ connectionString: postgres.url, max: 2 });
  pool.on('error', () => undefined); // it is stopped on purpose
  closing.push(() => pool.end());
  await migrateLedger(pool);
  await createEffectsTable(pool);

  const effects = join(folder, 'effects.jsonl');
  const key = generateKey();
  const env = {
    CHAOS_REDIS: redis.url,
    CHAOS_POSTGRES: postgres.url,
    CHAOS_EFFECTS: effects,
    CHAOS_SEED: seed,
  };
  const fleet = await Fleet.start(SERVERS, key, env, timeline, {
    message: (message) => note(message, report, timeline),
    killed: () => report.fault('crash'),
    crash: (detail) => report.violation(detail),
  });
  closing.push(() => fleet.end());
  const [port = 0] = await freePorts(1);
  const nginx = await startNginx(
    folder,
    port,
    fleet.servers.map((server) => server.port),
  );
  closing.push(() => nginx.close());

  const witness = new Witness((detail) => report.violation(detail));
  const proxy = new FaultProxy(nginx.port, random.fork('network'), witness, (fate) => report.fault(fate));
  closing.push(() => proxy.close());
  const client = new Client(await proxy.listen(), random.fork('client'), (setback) =>
    report.count(`retry: ${setback}`),
  );
  closing.push(() => client.close());
  const crowd = new Crowd({ client, random: random.fork('crowd'), report, timeline });
  const targets = { fleet, redis, postgres, oldest: () => crowd.oldest };
  const faults = new FaultDriver(targets, key, random.fork('faults'), report, timeline);

  const started = performance.now();
  const passed = (ms: number): boolean => performance.now() - started >= ms;
  const missing = (): readonly string[] => shortfall(size, report, faults.rotations);
  const progress = setInterval(() => report.progress(), 200);
  const giveUp = setTimeout(() => {
    console.error(`The run did not end within ${(size.limit + GRACE_MS) / 1_000} seconds, so it gives up.`);
    process.exit(1);
  }, size.limit + GRACE_MS);
  const driving = faults.run();
  await Promise.race([
    crowd.run(() => passed(size.limit) || (passed(size.least) && missing().length === 0)),
    failing(driving),
  ]);
  faults.stop();
  await driving;
  await proxy.close();
  clearInterval(progress);
  clearTimeout(giveUp);

  report.count('same', witness.same);
  const done = await readEffects(effects, pool);
  for (const violation of check({ flows: crowd.flows, effects: done, timeline })) report.violation(violation);
  report.clear();
  report.print(seed, missing());
  return report.violations === 0 && missing().length === 0 ? 0 : 1;
}

function note(message: ServerMessage, report: Report, timeline: Timeline): void {
  switch (message.type) {
    case 'rejected':
      report.count(`rejected: ${message.reason}`);
      return;
    case 'repeated':
      report.count('repeated');
      return;
    case 'warning':
      report.warning(message.text);
      return;
    case 'late':
      if (message.onPurpose) report.fault('late');
      timeline.add(message.store, message.from, message.to);
      return;
    case 'lag':
      timeline.add('stall', message.from, message.to, message.life);
      return;
    case 'partition':
      report.fault('partition');
      timeline.add(message.store, message.from, message.to);
      return;
    case 'listening':
  }
}

/** What a run has not reached yet. */
function shortfall({ flows, atLeast, rotations }: Size, report: Report, rotated: number): readonly string[] {
  const wants: readonly (readonly [string, number, number])[] = [
    ['flows ended', report.countOf('ended'), flows],
    ['faults', report.faults, FAULTS_AT_LEAST],
    ['whole rotations of keys', rotated, rotations],
    ...(Object.entries(atLeast) as [FaultName, number][]).map(
      ([name, least]) => [FAULTS[name], report.faultsOf(name), least] as const,
    ),
  ];
  return wants
    .filter(([, count, least]) => count < least)
    .map(([what, count, least]) => `${what}: ${count} of ${least}`);
}

/** Rejects when a promise does, and else never ends. */
async function failing(promise: Promise<unknown>): Promise<void> {
  await promise;
  await new Promise<never>(() => undefined);
}

interface Options {
  readonly onlyTasks: boolean;
  readonly quick: boolean;
  readonly verbose: boolean;
  readonly help: boolean;
  readonly seed: string;
}

/** The options, or what is wrong with them. */
function readOptions(args: readonly string[]): Options | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        seed: { type: 'string' },
        verbose: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const { quick = false, verbose = false, help = false } = values;
    const unknown = positionals.find((name) => name !== 'tasks');
    if (unknown !== undefined) return `There is no run '${unknown}'. There is: tasks.`;
    const seed = values.seed ?? randomBytes(4).toString('hex');
    return { onlyTasks: positionals.length > 0, quick, verbose, help, seed };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return `${message.split('. ')[0]}.`;
  }
}
