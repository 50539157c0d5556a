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
  --processes N  processes that measure each row, one after the other. Default 3, or 1 if quick
  --only NAME    only this row; may be given several times
  --json FILE    writes the report there too, as JSON
  --publish      writes docs/performance.md, its plots, and docs/performance.json from this run of all rows
  --publish-from FILE
                 writes them from a report that was kept, and measures nothing
  --assert       exits with 1 when a target is missed
  --help         prints this

Rows: ${rowNames().join(', ')}
`;

/** Processes that measure each row, unless the options say otherwise. */
const PROCESSES = { full: 3, quick: 1 } as const;

const MAIN = fileURLToPath(import.meta.url);

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    processes: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    json: { type: 'string' },
    publish: { type: 'boolean', default: false },
    'publish-from': { type: 'string' },
    assert: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    /** Of this program's own: measures one row and hands it to the parent process. */
    row: { type: 'string' },
  },
});

if (values.help) process.stdout.write(HELP);
else if (values.row !== undefined) await serveParent(values.row);
else if (values['publish-from'] !== undefined) await publishOrFail(values['publish-from']);
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
  const processes = Number(values.processes ?? (values.quick ? PROCESSES.quick : PROCESSES.full));
  if (!Number.isSafeInteger(processes) || processes < 1) {
    process.stderr.write(`--processes takes a whole number from 1 on, not '${values.processes ?? ''}'.\n`);
    process.exitCode = 2;
    return;
  }
  if (values.publish && values.only.length > 0) {
    process.stderr.write('Only a run of all rows can be published: leave out --only.\n');
    process.exitCode = 2;
    return;
  }
  const started = performance.now();
  const machine = describeMachine();
  const rows: RowResult[] = [];
  const failed: string[] = [];
  for (const name of rowNames().filter((row) => values.only.length === 0 || values.only.includes(row))) {
    process.stderr.write(`${name} ...\n`);
    const args = ['--row', name, ...(values.quick ? ['--quick'] : [])];
    const result = await measureApart(MAIN, args, processes);
    if (result === undefined) failed.push(name);
    else rows.push(result);
  }
  const seconds = (performance.now() - started) / 1_000;
  const report: Report = {
    date: new Date().toISOString(),
    quick: values.quick,
    processes,
    seconds,
    machine,
    rows,
    failed,
  };
  process.stdout.write(`${asText(report)}\n`);
  write(report);
  if (values.publish) await publishOrFail(report);
  const missed = rows.some(({ verdicts }) => verdicts.some(({ met }) => !met));
  if (failed.length > 0 || (values.assert && missed)) process.exitCode = 1;
}

/** Tells what is wrong with the report or the page, without the trace of our own code. */
async function publishOrFail(from: Report | string): Promise<void> {
  const { publish, readReport } = await import('./publish/publish.js'); // measuring processes shall not load it
  try {
    await publish(typeof from === 'string' ? readReport(from) : from);
    process.stderr.write('Written to docs/performance.md, docs/performance.json and docs/images\n');
  } catch (error) {
    process.stderr.write(`Not published. ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
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
