import { join } from 'node:path';
import type { Children } from './children.js';
import { nodeForSuite } from './node-22.js';
import { SUITE } from './paths.js';
import { readResults, type ScenarioResult } from './results.js';

/** The revision that everything here is about. */
export const REVISION = '2026-07-28';

/** One leg of the suite: a call of its command. */
export interface Leg {
  /** The exit code of the command. */
  readonly code: number | null;
  /** The scenarios that it ran, by name. */
  readonly results: ReadonlyMap<string, ScenarioResult>;
}

/** Runs all scenarios that the revision requires of a server, and those that it reports without scoring. */
export function runServerLeg(children: Children, url: string, folder: string): Promise<Leg> {
  return runSuite(children, ['server', '--url', url, '--requirements', REVISION], folder);
}

/** Runs one scenario for clients against the fixture client. */
export function runClientLeg(children: Children, scenario: string, folder: string): Promise<Leg> {
  // The suite cuts the command at spaces and gives the parts to a shell, so quotes hold a path together.
  const command = `"${process.execPath}" --import tsx conformance/client/main.ts`;
  const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', REVISION];
  return runSuite(children, args, folder);
}

async function runSuite(children: Children, args: readonly string[], folder: string): Promise<Leg> {
  const main = join(SUITE, 'dist', 'index.js');
  const child = children.start(nodeForSuite(), [main, ...args, '--output-dir', folder]);
  const code = await child.ended;
  const results = await readResults(folder);
  if (results.size === 0)
    throw new Error(`The suite ended with code ${code} and no results:\n${child.output()}`);
  return { code, results };
}
