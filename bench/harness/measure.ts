import { summarize } from './stats.js';
import type {
  Bench,
  CompareOptions,
  Comparison,
  Line,
  Operation,
  Row,
  RowResult,
  Target,
  Verdict,
} from './row.js';

/** How long to measure. Times in ms. */
interface Effort {
  /** Each subject runs for so long before it counts, so that the compiler is done with it. */
  readonly warmUp: number;
  /** A batch is about so long: far above the clock's grain, and short beside the noise of a shared machine. */
  readonly batch: number;
  readonly rounds: number;
}

const FULL: Effort = { warmUp: 1_500, batch: 30, rounds: 81 };
const QUICK: Effort = { warmUp: 350, batch: 20, rounds: 21 };

/** Measures one row. */
export async function measureRow(
  name: string,
  row: Row,
  { quick }: { readonly quick: boolean },
): Promise<RowResult> {
  const started = performance.now();
  const lines: Line[] = [];
  const verdicts: Verdict[] = [];
  const bench: Bench = {
    quick,
    add: (line) => void lines.push(line),
    judge: (scenario, what, value, target) =>
      void verdicts.push({ scenario, what, value, target, met: isMet(value, target) }),
    async compare(scenario, subjects, options) {
      process.stderr.write(`  ${name}: ${scenario}\n`);
      const names = Object.keys(subjects);
      const samples = await interleave(Object.values(subjects), quick ? QUICK : FULL, options);
      lines.push(...asLines(scenario, names, samples));
      return comparison(names, samples);
    },
  };
  await row.measure(bench);
  const seconds = (performance.now() - started) / 1_000;
  return { name, title: row.title, leavesOut: row.leavesOut, lines, verdicts, seconds };
}

function isMet(value: number, target: Target): boolean {
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** The times of one operation in µs: for each subject, one a round. */
async function interleave(
  operations: readonly Operation[],
  { warmUp, batch, rounds }: Effort,
  { concurrency = 1, per = 1 }: CompareOptions = {},
): Promise<number[][]> {
  const sizes: number[] = [];
  for (const operation of operations)
    sizes.push(batchSize(await timeOf(operation, warmUp, concurrency), batch, concurrency));
  const samples: number[][] = operations.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < operations.length; turn += 1) {
      // Each round starts with another subject: none always runs after the same neighbour's garbage.
      const index = (round + turn) % operations.length;
      const operation = operations[index];
      const size = sizes[index];
      if (operation === undefined || size === undefined) continue;
      const ms = await runBatch(operation, size, concurrency);
      samples[index]?.push((ms * 1_000) / size / per);
    }
  }
  return samples;
}

/** Runs for the time of the warm-up; gives the ms that one operation took in the end. */
async function timeOf(operation: Operation, warmUp: number, concurrency: number): Promise<number> {
  const end = performance.now() + warmUp;
  let size = concurrency;
  let each: number;
  do {
    each = (await runBatch(operation, size, concurrency)) / size;
    size = Math.min(batchSize(each, warmUp / 8, concurrency), size * 8);
  } while (performance.now() < end);
  return each;
}

function batchSize(each: number, ms: number, concurrency: number): number {
  return Math.max(concurrency, Math.ceil(ms / Math.max(each, 1e-6)));
}

async function runBatch(operation: Operation, size: number, concurrency: number): Promise<number> {
  let left = size;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const result = operation();
      if (result instanceof Promise) await result;
    }
  };
  const start = performance.now();
  if (concurrency === 1) await work();
  else await Promise.all(Array.from({ length: concurrency }, work));
  return performance.now() - start;
}

function asLines(scenario: string, names: readonly string[], samples: readonly number[][]): Line[] {
  return names.map((subject, index) => {
    const line = { scenario, subject, unit: 'µs' as const, value: summarize(samples[index] ?? []) };
    return index === 0 ? line : { ...line, ratio: summarize(ratios(samples, index)) };
  });
}

/** Round by round: what disturbed a round disturbed both. */
function ratios(samples: readonly number[][], index: number): number[] {
  const ours = samples[0] ?? [];
  return (samples[index] ?? []).map((time, round) => time / (ours[round] ?? Number.NaN));
}

function comparison(names: readonly string[], samples: readonly number[][]): Comparison {
  const indexOf = (name: string): number => {
    const index = names.indexOf(name);
    if (index === -1) throw new Error(`There is no subject '${name}' in this comparison.`);
    return index;
  };
  return {
    time: (subject) => summarize(samples[subject === undefined ? 0 : indexOf(subject)] ?? []).median,
    ratio: (peer) => summarize(ratios(samples, indexOf(peer))).median,
  };
}
