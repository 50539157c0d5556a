import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Ended, EXIT, WrongUse } from '../../outcome.js';
import { harmlessLine } from '../../safe-text.js';
import { fileFault } from '../../text-input.js';
import { htmlReport } from './html.js';
import { jsonReport } from './json.js';
import type { AuditReport, ReportOptions } from './report.js';
import { sarifReport } from './sarif.js';

type Format = (report: AuditReport, options: ReportOptions) => string;

/** By the end of a file's name; the first that fits. */
const FORMATS: readonly (readonly [end: string, format: Format])[] = [
  ['.sarif.json', sarifReport],
  ['.sarif', sarifReport],
  ['.json', jsonReport],
  ['.html', htmlReport],
];

function formatOf(file: string): Format {
  const name = basename(file).toLowerCase();
  const [, format] = FORMATS.find(([end]) => name.endsWith(end) && name.length > end.length) ?? [];
  if (format === undefined) {
    throw new WrongUse(`${harmlessLine(file)} is no report: its name must end with .html, .json or .sarif.`);
  }
  return format;
}

/**
 * Looks at the files before an audit begins, so that it is not done for nothing. What is there already will be replaced.
 *
 * @throws WrongUse for a name that says no format, one that is given twice, and a place where nothing can be written.
 */
export async function checkReportFiles(files: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  for (const file of files) {
    const path = resolve(file);
    const shown = harmlessLine(file);
    formatOf(file);
    if (seen.has(path)) throw new WrongUse(`${shown} is given twice.`);
    seen.add(path);
    try {
      await access(dirname(path), constants.W_OK | constants.X_OK);
    } catch (error) {
      throw new WrongUse(`${shown} cannot be written: its folder ${fileFault(error)}.`, { cause: error });
    }
    if (await isFolder(path)) throw new WrongUse(`${shown} is a folder, not a file.`);
  }
}

/**
 * Writes the report into each file, in the format that its name says. A file is there whole or as it was before. With
 * `showValues` only its owner can read it.
 *
 * @throws WrongUse for names that say no format, before anything is written
 * @throws Ended when a file cannot be written; those before it are there.
 */
export async function writeReports(
  report: AuditReport,
  files: readonly string[],
  options: ReportOptions = {},
): Promise<void> {
  const texts = files.map((file) => ({ file, text: formatOf(file)(report, options) }));
  for (const { file, text } of texts) await replace(file, text, options.showValues === true ? 0o600 : 0o644);
}

async function replace(file: string, text: string, mode: number): Promise<void> {
  const path = resolve(file);
  const beside = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(beside, text, { mode, flag: 'wx' });
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw new Ended(EXIT.failed, `The report was not written: ${harmlessLine(file)} ${fileFault(error)}.`, {
      cause: error,
    });
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false; // it is not there yet
  }
}
