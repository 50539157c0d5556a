import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { fileURLToPath } from 'node:url';
import type { Report } from '../harness/report.js';
import { fillMarkers } from './markers.js';
import { plots } from './plots.js';
import { asSvg } from './svg.js';
import { generatedParts } from './tables.js';

const DOCS = new URL('../../docs/', import.meta.url);
const PAGE = new URL('performance.md', DOCS);
const KEPT = new URL('performance.json', DOCS);
const IMAGES = new URL('images/', DOCS);

/**
 * Writes the tables and plots of `docs/performance.md`, and keeps the report beside it.
 *
 * @throws Error when the report is not of all rows, or the page has no place for one of them. Nothing is written then.
 */
export async function publish(report: Report): Promise<void> {
  if (report.failed.length > 0) throw new Error(`Rows could not be measured: ${report.failed.join(', ')}.`);
  const page = await pageOf(report);
  const kept = await formatted(KEPT, JSON.stringify(report));
  const images = await Promise.all(
    Object.entries(plots(report)).map(async ([name, spec]) => [name, await asSvg(spec)] as const),
  );
  mkdirSync(IMAGES, { recursive: true });
  for (const [name, svg] of images) writeFileSync(new URL(`${name}.svg`, IMAGES), svg);
  writeFileSync(PAGE, page);
  writeFileSync(KEPT, kept);
}

/**
 * The page as it reads with this report.
 *
 * @throws Error when the page and the report do not have the same parts.
 */
export async function pageOf(report: Report): Promise<string> {
  return formatted(PAGE, fillMarkers(readFileSync(PAGE, 'utf8'), generatedParts(report)));
}

/**
 * Reads a report that was kept.
 *
 * @throws Error when the file is none.
 */
export function readReport(file: string): Report {
  const report = JSON.parse(readFileSync(file, 'utf8')) as Partial<Report> | null;
  if (!Array.isArray(report?.rows) || !Array.isArray(report.failed) || report.machine === undefined) {
    throw new Error(`${file} is no report of the benchmarks: --json and --publish write one.`);
  }
  return report as Report;
}

async function formatted(file: URL, text: string): Promise<string> {
  const filepath = fileURLToPath(file);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}
