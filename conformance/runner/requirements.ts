import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SUITE } from './paths.js';

/**
 * The scenarios that a revision requires of servers, as the suite lists them. The list is YAML of the
 * simplest kind, and reading it here spares a parser.
 *
 * @throws Error when nothing is found, so that an empty list can never pass for success.
 */
export async function requiredOfServers(revision: string): Promise<readonly string[]> {
  const file = join(SUITE, 'requirements', `${revision}.yaml`);
  const yaml = await readFile(file, 'utf8');
  const list = /^server:\n((?: {2}- \S+\n)+)/m.exec(yaml.replaceAll('\r\n', '\n'))?.[1];
  if (list === undefined) throw new Error(`No list of scenarios for servers was found in ${file}.`);
  return [...list.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
}
