/**
 * The benchmarks. `npm run bench -- --help` says how to run them; `harness/row.ts` says how to add one.
 *
 * Progress goes to standard error, the table to standard output, and both JSON and Markdown to `bench/results`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine } from './harness/machine.js';
import { asMarkdown, asText, type Report } from './harness/report.js';
import type { RowResult } from './harness/row.js';
import { measureApart, measureHere, rowNames } from './harness/rows.js';

const HELP = `Measures Parley beside its peers.

Usage: npm run bench -- [options]

  --quick        about a minute in total, with wider spreads
  --only NAME    only this row; may be given several times
  --json FILE    writes the report there too, as JSON
  --assert       exits with 1 when a target is missed
  --help         prints this

Rows: ${rowNames().join(', ')}
`;

/** Processes that measure each row in a full run. */
const PROCESSES = 3;

const MAIN = fileURLToPath(import.meta.url);

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    json: { type: 'string' },
    assert: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    /** Of this program's own: measures one row and hands it to the parent process. */
    row: { type: 'string' },
  },
});

if (values.help) process.stdout.write(HELP);
else if (values.row !== undefined) await serveParent(values.row);
else await main();

async function serveParent(name: string): Promise<void> {
  const result = await measureHere(name, values.quick);
  process.send?.(result, () => process.exit(0));
}

async function main(): Promise<void> {
  const unknown = values.only.filter((name) => !rowNames().includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`There is no row ${unknown.join(', ')}. There are: ${rowNames().join(', ')}.\n`);
    process.exitCode = 2;
    return;
  }
  const started = performance.now();
  const machine = describeMachine();
  const rows: RowResult[] = [];
  const failed: string[] = [];
  for (const name of rowNames().filter((row) => values.only.length === 0 || values.only.includes(row))) {
    process.stderr.write(`${name} ...\n`);
    const result = await measureApart(
      MAIN,
      ['--row', name, ...(values.quick ? ['--quick'] : [])],
      values.quick ? 1 : PROCESSES,
    );
    if (result === undefined) failed.push(name);
    else rows.push(result);
  }
  const seconds = (performance.now() - started) / 1_000;
  const report: Report = {
    date: new Date().toISOString(),
    quick: values.quick,
    seconds,
    machine,
    rows,
    failed,
  };
  process.stdout.write(`${asText(report)}\n`);
  write(report);
  const missed = rows.some(({ verdicts }) => verdicts.some(({ met }) => !met));
  if (failed.length > 0 || (values.assert && missed)) process.exitCode = 1;
}

function write(report: Report): void {
  const json = `${JSON.stringify(report, null, 2)}\n`;
  const folder = new URL('results/', import.meta.url);
  const stem = `bench-${report.date.replaceAll(/[:.]/g, '-')}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(`${stem}.json`, folder), json);
  writeFileSync(new URL(`${stem}.md`, folder), asMarkdown(report));
  if (values.json !== undefined) writeFileSync(values.json, json);
  process.stderr.write(`Written to bench/results/${stem}.json and .md\n`);
}
