import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SUITE } from './paths.js';

/** Scenarios for servers, as the suite lists them for a revision. */
export interface Requirements {
  /** What is required, and scored. */
  readonly required: readonly string[];
  /** Those of the tasks extension: run and reported, and not scored. */
  readonly tasks: readonly string[];
}

/**
 * Reads which scenarios there are for servers. The list is YAML of the simplest kind, and reading it here
 * spares a parser.
 *
 * @throws Error when a list is not found, so that an empty one can never pass for success.
 */
export async function requirementsOfServers(revision: string): Promise<Requirements> {
  const file = join(SUITE, 'requirements', `${revision}.yaml`);
  const yaml = (await readFile(file, 'utf8')).replaceAll('\r\n', '\n');
  const required = /^server:\n((?: {2}- \S+\n)+)/m.exec(yaml)?.[1] ?? '';
  const tasks = yaml.matchAll(/^ {2}- scenario: (tasks-\S+)\n {4}leg: server$/gm);
  const lists = { required: names(required.matchAll(/- (\S+)/g)), tasks: names(tasks) };
  if (lists.required.length === 0 || lists.tasks.length === 0) {
    throw new Error(`The lists of scenarios for servers were not found in ${file}.`);
  }
  return lists;
}

function names(matches: Iterable<RegExpExecArray>): string[] {
  return Array.from(matches, ([, name = '']) => name);
}
