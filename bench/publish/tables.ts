import { ENTRY_SUBJECTS, POOLED_FLOW, scenarioOf, SDK_BY_HAND, WHOLE_TWO } from '../fixtures/entries.js';
import {
  limit,
  machineText,
  markdownTable,
  rowAsMarkdown,
  withUnit,
  type Report,
} from '../harness/report.js';
import { lineOf, linesOf } from './lookup.js';

/** The generated parts of `docs/performance.md`, by name. */
export function generatedParts(report: Report): Readonly<Record<string, string>> {
  const rows = report.rows.map((row) => [row.name, rowAsMarkdown(row)] as const);
  return {
    machine: machineText(report)
      .split('\n')
      .map((line) => `- ${line}`)
      .join('\n'),
    summary: entrySummary(report),
    targets: targets(report),
    ...Object.fromEntries(rows),
  };
}

/** The entries side by side: what a reader looks for first. */
function entrySummary(report: Report): string {
  const lines = linesOf(report, 'entries');
  const median = (measure: Parameters<typeof scenarioOf>[1], subject: string): number =>
    lineOf(lines, scenarioOf(WHOLE_TWO, measure), subject)?.value.median ?? Number.NaN;
  const peer = median('wall', SDK_BY_HAND.name);
  const body = ENTRY_SUBJECTS.map(({ name }) => [
    name === POOLED_FLOW.name ? `**${name}**` : name,
    Math.round(1e6 / median('wall', name)).toLocaleString('en'),
    withUnit(peer / median('wall', name), 'x'),
    withUnit(median('cpu', name), 'µs'),
    withUnit(median('p50', name), 'ms'),
    withUnit(median('p99', name), 'ms'),
  ]);
  const head = [
    '',
    'requests a second',
    'times the SDK entry by hand',
    'processor time a request',
    'p50',
    'p99',
  ];
  return markdownTable(head, body);
}

function targets(report: Report): string {
  const body = report.rows.flatMap(({ name, verdicts }) =>
    verdicts.map(({ scenario, what, value, target, met }) => [
      `\`${name}\`, ${scenario}: ${what}`,
      withUnit(value, target.unit),
      limit(target),
      met ? 'met' : '**missed**',
    ]),
  );
  return markdownTable(['', 'measured', 'target', ''], body);
}
