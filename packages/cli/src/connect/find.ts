import type { Prompt, Tool } from '@modelcontextprotocol/client';
import { nearNames } from '../near.js';
import { WrongUse } from '../outcome.js';
import { harmlessLine } from '../safe-text.js';
import { shellWords } from '../shell-words.js';
import type { Connection } from './connection.js';
import { wordsOf } from './target.js';

/** So many names are listed in a message. */
const MOST = 20;

/** All tools of a server; none if it has none at all. */
export async function listTools({ client, request }: Connection): Promise<readonly Tool[]> {
  // Where the capability is missing the client writes to the console, so it is not asked.
  if (client.getServerCapabilities()?.tools === undefined) return [];
  return (await client.listTools(undefined, request)).tools;
}

/** @throws WrongUse when there is none of that name, with those that may have been meant. */
export async function findTool(connection: Connection, name: string): Promise<Tool> {
  const tools = await listTools(connection);
  const { before, behind } = wordsOf(connection.target);
  const list = shellWords(['parley', 'tools', ...before, ...behind]);
  return find(tools, name, connection, 'tool', `All of them: ${list}`);
}

/** @throws WrongUse when there is none of that name, with those that may have been meant. */
export async function findPrompt(connection: Connection, name: string): Promise<Prompt> {
  const { client, request } = connection;
  const hasPrompts = client.getServerCapabilities()?.prompts !== undefined;
  const prompts = hasPrompts ? (await client.listPrompts(undefined, request)).prompts : [];
  const names = prompts.slice(0, MOST).map((prompt) => harmlessLine(prompt.name));
  const rest = prompts.length > MOST ? ' …' : '';
  return find(prompts, name, connection, 'prompt', `It has: ${names.join(', ')}${rest}`);
}

function find<T extends { readonly name: string }>(
  items: readonly T[],
  name: string,
  connection: Connection,
  kind: 'tool' | 'prompt',
  listing: string,
): T {
  const found = items.find((item) => item.name === name);
  if (found !== undefined) return found;
  if (items.length === 0) throw new WrongUse(`${connection.name} has no ${kind}s.`);
  const near = nearNames(
    name,
    items.map((item) => item.name),
  );
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map(harmlessLine).join(' or ')}?`;
  throw new WrongUse(`${connection.name} has no ${kind} '${harmlessLine(name)}'.${hint}\n${listing}`);
}
