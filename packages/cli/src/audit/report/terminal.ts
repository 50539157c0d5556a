import { createColors } from 'picocolors';
import type { Severity } from '../attack.js';
import { harmlessLine } from '../../safe-text.js';
import { cut, pad, wrap } from '../../terminal/drawing/text-layout.js';
import { faultGroups, roundsText, together, verdictOf, type AuditReport } from './report.js';
import { summaryOf } from './summary.js';

/** How a terminal is written to. */
export interface TerminalReportOptions {
  /** Default false: no sequences at all. */
  readonly colors?: boolean;
  /** Default 80. */
  readonly columns?: number;
}

const INDENT = '  ';
const VERDICT_COLUMNS = 8;
const SEVERITY_COLUMNS = 10;
/** What the longest name of an attack takes, beside the two. A narrower terminal breaks lines by itself. */
const NARROWEST = 50;

/** The report for a terminal: faults, worst first, each with a line of explanation; what is left; and the summary. */
export function terminalReport(
  report: AuditReport,
  { colors = false, columns = 80 }: TerminalReportOptions = {},
): string {
  const style = createColors(colors);
  const width = Math.max(columns, NARROWEST);
  const bySeverity: Readonly<Record<Severity, (text: string) => string>> = {
    critical: style.red,
    high: style.red,
    medium: style.yellow,
    low: style.cyan,
    note: style.dim,
  };

  const groups = faultGroups(report);
  const rows = groups
    .filter(({ severity }) => severity !== 'note')
    .flatMap(({ attack, finding, severity, rounds }) => {
      const head = pad(finding.verdict, VERDICT_COLUMNS) + pad(severity, SEVERITY_COLUMNS);
      const left = width - INDENT.length - VERDICT_COLUMNS - SEVERITY_COLUMNS - attack.id.length;
      const where = rounds.length === 0 ? '' : cut(`, ${roundsText(rounds)}`, left, '…');
      const title = `${INDENT}${bySeverity[severity](head)}${style.bold(attack.id)}${where}`;
      return [title].concat(indented(finding.found, width, INDENT.length + VERDICT_COLUMNS));
    });
  const notes = groups
    .filter(({ severity }) => severity === 'note')
    .map(({ attack, finding }) => `${attack.id}: ${finding.found}`);

  const summary = summaryOf(report);
  const tone = { bad: style.red, doubtful: style.yellow, open: style.yellow, good: style.green }[
    summary.tone
  ];
  return [
    ...wrap(`Audit of ${harmlessLine(report.target)}, tool ${harmlessLine(report.tool)}`, width).map(
      style.bold,
    ),
    ...indented(overview(report), width, 0),
    '',
    ...(rows.length === 0 ? [] : [...rows, '']),
    ...[...listed('Notes', notes, width), ...untold(report, width)].map((line) =>
      line === '' ? '' : style.dim(line),
    ),
    ...wrap(summary.headline, width).map((line) => style.bold(tone(line))),
    ...summary.details.flatMap((each) => wrap(each, width)),
    '',
  ].join('\n');
}

/** What is said of a run, in one line. */
export function overview({ rounds, requests, seconds, startedAt }: AuditReport): string {
  return `A flow of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}; ${requests} requests in ${seconds.toFixed(1)} s, from ${startedAt.replace('T', ' ').replace(/(?:\.\d+)?Z$/, ' UTC')} on.`;
}

/** What nothing can be said of, and what there was nothing to say of. */
function untold({ results }: AuditReport, width: number): string[] {
  const unclear = results.flatMap(({ attack, findings }) =>
    together(findings.filter(({ verdict }) => verdict === 'unclear')).map(
      ({ finding }) => `${attack.id}: ${finding.found}`,
    ),
  );
  const absent = results
    .filter((each) => verdictOf(each) === 'not-applicable')
    .map(({ attack }) => attack.id);
  return [
    ...listed('Unclear', unclear, width),
    ...(absent.length === 0 ? [] : [...wrap(`Not applicable: ${absent.join(', ')}`, width), '']),
  ];
}

function listed(title: string, items: readonly string[], width: number): string[] {
  if (items.length === 0) return [];
  return [`${title} (${items.length})`, ...items.flatMap((item) => indented(item, width, INDENT.length)), ''];
}

/** The server may have written a part of it. */
function indented(text: string, width: number, columns: number): string[] {
  return wrap(harmlessLine(text), width - columns).map((line) => ' '.repeat(columns) + line);
}
