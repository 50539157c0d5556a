import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

const Check = z.object({
  id: z.string(),
  status: z.string(),
  description: z.string().optional(),
  errorMessage: z.string().optional(),
});

/** One of the things that a scenario looks at. */
export type Check = z.infer<typeof Check>;

/** What came of a scenario. */
export interface ScenarioResult {
  readonly name: string;
  /** `skipped`: it ran, and the suite itself skips all that it would look at. */
  readonly outcome: 'passed' | 'skipped' | 'failed';
  /** The checks that kept it from passing. */
  readonly problems: readonly Check[];
}

/**
 * Judges a scenario by its checks. A warning counts against it, though the suite lets servers off with one:
 * three of the MRTR scenarios know nothing worse.
 */
export function judge(name: string, checks: readonly Check[]): ScenarioResult {
  const problems = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  return { name, problems, outcome: problems.length > 0 ? 'failed' : outcomeOf(checks) };
}

function outcomeOf(checks: readonly Check[]): ScenarioResult['outcome'] {
  if (checks.some(({ status }) => status === 'SUCCESS')) return 'passed';
  const isSkipped = checks.length > 0 && checks.every(({ status }) => status === 'SKIPPED');
  return isSkipped ? 'skipped' : 'failed';
}

/** The suite names a folder after the scenario and the time: `server-caching-2026-11-29T22-38-06-542Z`. */
const FOLDER = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

/** Reads what one call of the suite's command left in its output folder, by scenario. */
export async function readResults(folder: string): Promise<ReadonlyMap<string, ScenarioResult>> {
  const results = new Map<string, ScenarioResult>();
  const names = await readdir(folder).catch(() => []);
  for (const entry of names) {
    const name = FOLDER.exec(entry)?.[1];
    if (name === undefined) continue;
    // A scenario that broke off leaves a folder without checks; it counts as one that did not run.
    const json = await readFile(join(folder, entry, 'checks.json'), 'utf8').catch(() => '[]');
    results.set(name, judge(name, z.array(Check).parse(JSON.parse(json))));
  }
  return results;
}
