import type { Machine } from './machine.js';
import type { Line, RowResult, Target, Unit, Verdict } from './row.js';

/** All of a run; what `--json` writes. */
export interface Report {
  readonly date: string;
  readonly quick: boolean;
  /** How many processes measured each row. */
  readonly processes: number;
  readonly seconds: number;
  readonly machine: Machine;
  readonly rows: readonly RowResult[];
  /** Rows that could not be measured. */
  readonly failed: readonly string[];
}

const HEAD = ['', 'median', 'p10 - p90', 'per second', 'peer / parley', 'p10 - p90'];

/** The report as aligned text. */
export function asText(report: Report): string {
  const tables = report.rows.map(({ lines }) => [HEAD, ...withScenarios(lines).map(cells)]);
  const widths = HEAD.map((_, column) => Math.max(...tables.flat().map((line) => line[column]?.length ?? 0)));
  const align = (line: readonly string[]): string =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const parts = report.rows.map((row, index) =>
    [
      `${row.title}  (${row.name}, ${row.seconds.toFixed(1)} s)`,
      `leaves out: ${row.leavesOut}`,
      ...row.notes,
      ...(tables[index] ?? []).map((line) => `  ${align(line)}`),
      ...row.verdicts.map((verdict) => `  ${verdict.met ? 'met   ' : 'MISSED'}  ${verdictText(verdict)}`),
    ].join('\n'),
  );
  return [machineText(report), ...parts, ...failures(report), summary(report), ''].join('\n\n').trimEnd();
}

/** The report as Markdown. */
export function asMarkdown(report: Report): string {
  const parts = report.rows.map((row) => `## ${row.title}\n\nRow \`${row.name}\`.\n\n${rowAsMarkdown(row)}`);
  return ['# Benchmarks', machineText(report), ...parts, ...failures(report), summary(report), ''].join(
    '\n\n',
  );
}

/** A row without its title: what it leaves out, how it was measured, its table, and how it was judged. */
export function rowAsMarkdown(row: RowResult): string {
  const verdicts = row.verdicts.map(
    (verdict) => `- ${verdict.met ? 'met' : '**missed**'}: ${verdictText(verdict)}`,
  );
  return [
    `Leaves out: ${row.leavesOut}.`,
    ...row.notes.map((note) => `${note}.`),
    markdownTable(HEAD, withScenarios(row.lines).map(cells)),
    ...(verdicts.length > 0 ? [verdicts.join('\n')] : []),
  ].join('\n\n');
}

/** A table of which the first column is text, and the others are numbers; columns without any are left out. */
export function markdownTable(head: readonly string[], body: readonly (readonly string[])[]): string {
  const used = head.map((_, column) => body.some((line) => line[column] !== ''));
  return [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...body]
    .map((line) => line.filter((_, column) => used[column]).map((cell) => cell.trim()))
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

/** What it was measured on, and when. */
export function machineText({ machine, date, quick, processes }: Report): string {
  const packages = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`);
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, load ${machine.load}`,
    `Node ${machine.node} (V8 ${machine.v8}), ${packages.join(', ')}`,
    `${date}, ${quick ? 'quick' : 'full'} run, ${processes === 1 ? 'one process' : `${processes} processes`} a row. Median of interleaved rounds; ratios are of the same rounds, above 1 means that parley is better.`,
  ].join('\n');
}

function failures({ failed }: Report): string[] {
  return failed.length === 0 ? [] : [`Could not be measured: ${failed.join(', ')}`];
}

function summary({ rows, seconds }: Report): string {
  const verdicts = rows.flatMap((row) => row.verdicts);
  return `${verdicts.filter(({ met }) => met).length} of ${verdicts.length} targets met, in ${seconds.toFixed(1)} s`;
}

/** A line of text stands for the scenario; the subjects follow, indented. */
function withScenarios(lines: readonly Line[]): (Line | string)[] {
  return lines.flatMap((line, index) =>
    line.scenario === lines[index - 1]?.scenario ? [line] : [line.scenario, line],
  );
}

function cells(line: Line | string): string[] {
  if (typeof line === 'string') return [line, '', '', '', '', ''];
  const { value, ratio } = line;
  const { by } = readable(value.median, line.unit);
  return [
    `  ${line.subject}`,
    withUnit(value.median, line.unit),
    value.p10 === value.p90 ? '' : `${number(value.p10 / by)} - ${number(value.p90 / by)}`,
    line.unit === 'µs' && value.p10 !== value.p90 ? Math.round(1e6 / value.median).toLocaleString('en') : '',
    ratio === undefined ? '' : `${number(ratio.median)}x`,
    ratio === undefined ? '' : `${number(ratio.p10)} - ${number(ratio.p90)}`,
  ];
}

function verdictText({ scenario, what, value, target }: Verdict): string {
  return `${scenario}: ${what}: ${withUnit(value, target.unit)} (target ${limit(target)})`;
}

/** A target in words. */
export function limit(target: Target): string {
  return 'atLeast' in target
    ? `at least ${withUnit(target.atLeast, target.unit)}`
    : `at most ${withUnit(target.atMost, target.unit)}`;
}

/** A value as people read it. */
export function withUnit(value: number, given: Unit): string {
  const { unit, by } = readable(value, given);
  return unit === 'x' ? `${number(value)}x` : `${number(value / by)} ${unit}`;
}

/** Long times are told in ms. */
function readable(value: number, unit: Unit): { readonly unit: Unit; readonly by: number } {
  return unit === 'µs' && value >= 10_000 ? { unit: 'ms', by: 1_000 } : { unit, by: 1 };
}

/** Three digits that count. */
function number(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
