import { fileURLToPath } from 'node:url';
import {
  FIRST_ROUND,
  firstRound,
  HEADERS,
  secondBody,
  THREE_ROUNDS,
  TWO_ROUNDS,
} from '../fixtures/deploy-client.js';
import type { Rounds } from '../fixtures/deploy-servers.js';
import {
  CONNECTIONS,
  ENTRY_SUBJECTS,
  FLOOR,
  scenarioOf,
  SDK_BY_HAND,
  SDK_FLOW,
  WHOLE_THREE,
  WHOLE_TWO,
  type EntrySubject,
} from '../fixtures/entries.js';
import { runLoad, type Exchange, type Load } from '../harness/load.js';
import { pinningText, pinThisProcess, type Pinning } from '../harness/pin.js';
import type { Bench, Comparison, Row } from '../harness/row.js';
import { asComparison, asLines } from '../harness/samples.js';
import { summarize } from '../harness/stats.js';
import { startSubject, type Subject } from '../harness/subject.js';

const SERVER = fileURLToPath(new URL('../fixtures/loopback-server.ts', import.meta.url));
const NAMES = ENTRY_SUBJECTS.map(({ name }) => name);

/** How much to measure. */
interface Effort {
  /**
   * Requests to each server before the first scenario counts. The SDK's entry is four times as slow at first, and
   * not yet at its best after 5,000 requests: the compiler shares the one processor.
   */
  readonly warmUp: number;
  /** ms */
  readonly window: number;
  readonly rounds: number;
}

const FULL: Effort = { warmUp: 20_000, window: 300, rounds: 9 };
const QUICK: Effort = { warmUp: 5_000, window: 120, rounds: 5 };

/** A subject that is up, with its load. */
interface Target {
  readonly subject: Subject;
  readonly load: Load;
}

/** What the windows gave: for each subject, one a round; µs, latencies in ms. */
type Samples = Readonly<Record<'wall' | 'cpu' | 'p50' | 'p99', number[][]>>;

async function withSubjects(
  rounds: Rounds,
  pinning: Pinning | undefined,
  use: (subjects: readonly Subject[]) => Promise<void>,
): Promise<void> {
  const start = ({ entry, style }: EntrySubject): Promise<Subject> =>
    startSubject(SERVER, [entry, style, String(rounds)], pinning);
  const started = await Promise.allSettled(ENTRY_SUBJECTS.map(start));
  const subjects = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    for (const one of started) if (one.status === 'rejected') throw one.reason;
    await use(subjects);
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
  }
}

async function measureScenario(
  bench: Bench,
  scenario: string,
  targets: readonly Target[],
  warmUp: number,
): Promise<void> {
  process.stderr.write(`  entries: ${scenario}\n`);
  const { window, rounds } = bench.quick ? QUICK : FULL;
  const sizes: number[] = [];
  for (const target of targets) sizes.push(await settle(target, warmUp, window));
  const none = (): number[][] => targets.map(() => []);
  const samples: Samples = { wall: none(), cpu: none(), p50: none(), p99: none() };
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < targets.length; turn += 1) {
      // Each round starts with another subject: none always runs after the same neighbour.
      const index = (round + turn) % targets.length;
      const target = targets[index];
      if (target !== undefined) await measureWindow(target, sizes[index] ?? 0, index, samples);
    }
  }
  report(bench, scenario, samples);
}

/** Warms a subject up; gives how many requests make a window. */
async function settle({ load }: Target, warmUp: number, window: number): Promise<number> {
  await runLoad({ ...load, requests: warmUp * 0.8 });
  const { requests, micros } = await runLoad({ ...load, requests: warmUp * 0.2 });
  return Math.ceil((window * 1_000 * requests) / micros);
}

async function measureWindow(
  { subject, load }: Target,
  requests: number,
  index: number,
  samples: Samples,
): Promise<void> {
  const before = await subject.cpu();
  const found = await runLoad({ ...load, requests });
  const cpu = (await subject.cpu()) - before;
  samples.wall[index]?.push(found.micros / found.requests);
  samples.cpu[index]?.push(cpu / found.requests);
  samples.p50[index]?.push(found.p50 / 1_000);
  samples.p99[index]?.push(found.p99 / 1_000);
}

function report(bench: Bench, scenario: string, samples: Samples): void {
  for (const measure of ['wall', 'cpu', 'p50', 'p99'] as const) {
    const unit = measure === 'p50' || measure === 'p99' ? 'ms' : 'µs';
    const lines = asLines(scenarioOf(scenario, measure), unit, NAMES, samples[measure]);
    for (const line of lines) bench.add(line);
  }
  if (scenario === WHOLE_TWO || scenario === WHOLE_THREE) {
    for (const measure of ['wall', 'cpu'] as const) {
      judge(bench, scenarioOf(scenario, measure), asComparison(NAMES, samples[measure]));
    }
  }
  const busy = samples.cpu.map((cpu, index) => {
    const shares = cpu.map((micros, round) => (100 * micros) / (samples.wall[index]?.[round] ?? Number.NaN));
    return `${NAMES[index]} ${summarize(shares).median.toFixed(0)} %`;
  });
  bench.note(`How much of the time each server was busy, ${scenario}: ${busy.join(', ')}`);
}

function judge(bench: Bench, scenario: string, found: Comparison): void {
  const rate = (what: string, value: number, atLeast: number): void =>
    bench.judge(scenario, what, value, { atLeast, unit: 'x' });
  rate('pooled entry with a flow, by the SDK entry by hand', found.ratio(SDK_BY_HAND.name), 5);
  rate('pooled entry with a flow, by bare node:http', found.ratio(FLOOR.name), 0.3);
  rate('SDK entry with a flow, by the SDK entry by hand', found.ratio(SDK_BY_HAND.name, SDK_FLOW.name), 1);
}

export default {
  title: `Requests to each entry over node:http on loopback, ${CONNECTIONS} connections: the same tool`,
  leavesOut:
    'a network; TLS; authentication. Servers have a process each, and the client, in another, keeps one of them busy at a time',
  async measure(bench) {
    const pinning = pinThisProcess();
    bench.note(pinningText(pinning));
    if (bench.quick) bench.note('A quick run: the servers are not yet as fast as they become');
    const { warmUp } = bench.quick ? QUICK : FULL;
    const to = (subjects: readonly Subject[], script: readonly Exchange[]): Target[] =>
      subjects.map((subject) => ({ subject, load: loadOf(subject, script) }));
    await withSubjects(2, pinning, async (subjects) => {
      await measureScenario(bench, WHOLE_TWO, to(subjects, TWO_ROUNDS), warmUp);
      if (bench.quick) return; // the whole flow is both of its rounds
      await measureScenario(bench, 'first round', to(subjects, [FIRST_ROUND]), warmUp / 5);
      const second = await Promise.all(subjects.map(secondRoundOf));
      await measureScenario(bench, 'second round', second, warmUp / 5);
    });
    if (bench.quick) return; // servers of the longer tool would have to be warmed up anew
    await withSubjects(3, pinning, async (subjects) =>
      measureScenario(bench, WHOLE_THREE, to(subjects, THREE_ROUNDS), warmUp),
    );
  },
} satisfies Row;

function loadOf({ port }: Subject, script: readonly Exchange[]): Load {
  return { port, headers: HEADERS, script, connections: CONNECTIONS, requests: 0 };
}

/** The second round alone: the same state, presented again and again. */
async function secondRoundOf(subject: Subject): Promise<Target> {
  const state = await firstRound(async (body) => {
    const url = `http://127.0.0.1:${subject.port}/mcp`;
    return (await fetch(url, { method: 'POST', headers: HEADERS, body })).text();
  });
  return { subject, load: loadOf(subject, [{ body: secondBody(state), gives: 'end' }]) };
}
