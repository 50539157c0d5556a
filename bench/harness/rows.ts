import { fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { measureRow } from './measure.js';
import { pool } from './pool.js';
import type { Row, RowResult } from './row.js';

const FOLDER = new URL('../rows/', import.meta.url);

/** The rows there are: one for each file of `bench/rows`, in the order of their names. */
export function rowNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .toSorted();
}

/** Measures a row in this process. */
export async function measureHere(name: string, quick: boolean): Promise<RowResult> {
  const { default: row } = (await import(new URL(`${name}.ts`, FOLDER).href)) as { readonly default: Row };
  return measureRow(name, row, { quick });
}

/**
 * Measures a row in processes of its own: what one row taught the compiler, and what it left on the heap, would
 * change the numbers of the next. Several, because the compiler decides differently from process to process, which
 * no number of rounds within one shows.
 *
 * @returns undefined when the row failed; it has said why on standard error.
 */
export async function measureApart(
  main: string,
  args: readonly string[],
  processes: number,
): Promise<RowResult | undefined> {
  const results: RowResult[] = [];
  for (let process = 0; process < processes; process += 1) {
    const result = await measureInChild(main, args);
    if (result === undefined) return undefined;
    results.push(result);
  }
  return pool(results);
}

function measureInChild(main: string, args: readonly string[]): Promise<RowResult | undefined> {
  return new Promise((resolve, reject) => {
    const child = fork(main, args, { stdio: ['ignore', 2, 2, 'ipc'] });
    let result: RowResult | undefined;
    child.on('message', (message) => {
      result = message as RowResult;
    });
    child.on('error', reject);
    child.on('exit', () => resolve(result));
  });
}
