import type { ServerIdentity } from 'mcp-parley/client';
import type { ServerCommand } from '../command-line.js';
import { WrongUse } from '../outcome.js';
import { harmlessLine } from '../safe-text.js';
import { shellWords } from '../shell-words.js';

/** Where a server is: behind a URL, or a program that is started. */
export type Target =
  | { readonly type: 'http'; readonly url: string }
  | { readonly type: 'stdio'; readonly command: ServerCommand };

/**
 * Reads the server off a command line: a URL that comes first among the words, or the program behind `--`.
 *
 * @returns the server, and the words that are left
 * @throws WrongUse when there is none, or both.
 */
export function readTarget(
  words: readonly string[],
  serverCommand: ServerCommand | undefined,
): { readonly target: Target; readonly rest: readonly string[] } {
  const [first, ...rest] = words;
  const isUrl = first !== undefined && /^https?:\/\//i.test(first);
  if (serverCommand !== undefined) {
    if (isUrl) throw new WrongUse('Name one server: its URL, or its program behind --.');
    return { target: { type: 'stdio', command: serverCommand }, rest: words };
  }
  if (!isUrl) {
    throw new WrongUse(
      'Name the server: its URL as the first word (https://host/mcp), or its program behind -- (-- node server.js).',
    );
  }
  return { target: { type: 'http', url: readUrl(first) }, rest };
}

/** @throws WrongUse when it is no URL, or holds credentials, which would be shown and saved. */
export function readUrl(text: string): string {
  if (!URL.canParse(text)) throw new WrongUse('That is not a URL. One looks like https://host/mcp');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new WrongUse(`A server's URL begins with https:// (or http://, on this machine).`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new WrongUse(
      'The URL holds credentials, which would be shown and saved. Give them with --bearer-env.',
    );
  }
  url.hash = '';
  return url.href;
}

/** What saved calls are bound to. */
export function identityOf(target: Target, principal: string | undefined): ServerIdentity {
  const signedIn = { principal: principal ?? null };
  if (target.type === 'http') return { url: target.url, ...signedIn };
  const [command, ...args] = target.command;
  return { command, args, ...signedIn };
}

/**
 * Where the server of a saved call is.
 *
 * @throws WrongUse when that is no address of a server.
 */
export function targetOf(server: ServerIdentity): Target {
  if ('url' in server) return { type: 'http', url: readUrl(server.url) };
  return { type: 'stdio', command: [server.command, ...(server.args ?? [])] };
}

/** How a server is called before people: as they configured it, never as it calls itself (FORM-23). */
export function nameOf(target: Target): string {
  return target.type === 'http' ? harmlessLine(target.url) : shellWords(target.command);
}

/** The server as it is given on a command line, for one that people copy. */
export function wordsOf(target: Target): {
  readonly before: readonly string[];
  readonly behind: readonly string[];
} {
  if (target.type === 'http') return { before: [target.url], behind: [] };
  return { before: [], behind: ['--', ...target.command] };
}
