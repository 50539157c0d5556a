import {
  isMet,
  type Bench,
  type CompareOptions,
  type Line,
  type Operation,
  type Row,
  type RowResult,
  type Verdict,
} from './row.js';
import { asLines, asComparison } from './samples.js';

/** How long to measure. Times in ms. */
interface Effort {
  /** Each subject runs for so long before it counts, so that the compiler is done with it. */
  readonly warmUp: number;
  /** A batch is about so long: far above the clock's grain, and short beside the noise of a shared machine. */
  readonly batch: number;
  readonly rounds: number;
}

const FULL: Effort = { warmUp: 1_500, batch: 40, rounds: 31 };
const QUICK: Effort = { warmUp: 150, batch: 20, rounds: 11 };

/** The first comparison of a process also warms up what all of them share. */
const FIRST = 4;

/** Measures one row. */
export async function measureRow(
  name: string,
  row: Row,
  { quick }: { readonly quick: boolean },
): Promise<RowResult> {
  const started = performance.now();
  const lines: Line[] = [];
  const verdicts: Verdict[] = [];
  const notes: string[] = [];
  const bench: Bench = {
    quick,
    add: (line) => void lines.push(line),
    note: (text) => void notes.push(text),
    judge: (scenario, what, value, target) =>
      void verdicts.push({ scenario, what, value, target, met: isMet(value, target) }),
    async compare(scenario, subjects, options) {
      process.stderr.write(`  ${name}: ${scenario}\n`);
      const names = Object.keys(subjects);
      const effort = effortOf(quick, lines.length === 0, options);
      const samples = await interleave(Object.values(subjects), effort, options);
      lines.push(...asLines(scenario, 'µs', names, samples, options?.at));
      return asComparison(names, samples);
    },
  };
  await row.measure(bench);
  const seconds = (performance.now() - started) / 1_000;
  return { name, title: row.title, leavesOut: row.leavesOut, notes, lines, verdicts, seconds };
}

function effortOf(quick: boolean, first: boolean, options: CompareOptions | undefined): Effort {
  const effort = quick ? QUICK : FULL;
  if (options?.single !== undefined) return { warmUp: 0, batch: 0, rounds: options.single.rounds };
  return { ...effort, warmUp: effort.warmUp * (first ? FIRST : 1) };
}

/** The times of one operation in µs: for each subject, one a round. */
async function interleave(
  operations: readonly Operation[],
  effort: Effort,
  { concurrency = 1, per = 1 }: CompareOptions = {},
): Promise<number[][]> {
  const sizes = await warmUp(operations, effort, concurrency);
  const samples: number[][] = operations.map(() => []);
  for (let round = 0; round < effort.rounds; round += 1) {
    for (let turn = 0; turn < operations.length; turn += 1) {
      // Each round starts with another subject: none always runs after the same neighbour.
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

/** Runs all subjects in turn, as later; gives how many operations make a batch of each. */
async function warmUp(
  operations: readonly Operation[],
  effort: Effort,
  concurrency: number,
): Promise<number[]> {
  const sizes = operations.map(() => concurrency);
  const end = performance.now() + effort.warmUp * operations.length;
  do {
    for (const [index, operation] of operations.entries()) {
      const size = sizes[index] ?? concurrency;
      const each = (await runBatch(operation, size, concurrency)) / size;
      const wanted = Math.max(concurrency, Math.ceil(effort.batch / Math.max(each, 1e-6)));
      sizes[index] = Math.min(wanted, size * 8);
    }
  } while (performance.now() < end);
  return sizes;
}

/** The ms that a batch takes. */
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
  // Within the time: each pays for its own garbage, in every batch, and not now and then for a neighbour's.
  globalThis.gc?.({ type: 'minor' });
  return performance.now() - start;
}
