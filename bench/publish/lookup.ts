import type { Report } from '../harness/report.js';
import type { Line } from '../harness/row.js';

/**
 * The lines of one row of a report.
 *
 * @throws Error when the report does not have the row: only a run of all rows can be published.
 */
export function linesOf(report: Report, row: string): readonly Line[] {
  const found = report.rows.find(({ name }) => name === row);
  if (found === undefined)
    throw new Error(`The report has no row '${row}': only a run of all rows can be published.`);
  return found.lines;
}

/** The line of a subject in a scenario, if it was measured. */
export function lineOf(lines: readonly Line[], scenario: string, subject: string): Line | undefined {
  return lines.find((line) => line.scenario === scenario && line.subject === subject);
}
