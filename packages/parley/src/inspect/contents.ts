import { readBody } from '../carrier/index.js';
import { StateRejected } from '../errors.js';
import type { Json } from '../flow/index.js';
import type { Contents, InspectedEntry, InspectedQuestion, OpenedToken } from './inspection.js';

/*
 * Reads the text inside a token for people. A server takes its shape as read, since it is authentic. Here it may come
 * from another version of this library, so each member is looked at before it is passed on as what the types say.
 */

/** What the text inside a token says. */
export type Read = Pick<OpenedToken, 'contents' | 'questions' | 'trace' | 'version' | 'waits'>;

/** @throws StateRejected `claims` when it cannot be read. */
export function readContents(kind: OpenedToken['kind'], text: string, reveal: boolean): Read {
  const { version, trace, waits, overflow, state } = readBody(kind, text);
  return {
    ...optional('version', version),
    ...optional('trace', trace),
    waits: count(waits),
    questions: list(state.asked).map(readQuestion),
    contents: contentsOf(state, overflow, reveal),
  };
}

type Body = ReturnType<typeof readBody>;

function contentsOf(state: Body['state'], overflow: unknown, reveal: boolean): Contents {
  if (state.kind === 'plain') {
    const { text } = state;
    return { in: 'text', bytes: bytesOf(text), ...(reveal && { text }) };
  }
  if (overflow !== undefined) return { in: 'ledger', reference: string(overflow) };
  return { in: 'token', entries: state.journal.map((text) => readEntry(text, reveal)) };
}

function readEntry(text: string, reveal: boolean): InspectedEntry {
  const bytes = bytesOf(text);
  const entry = parse(text) ?? text;
  if (!isObject(entry) || typeof entry['type'] !== 'string') {
    return { bytes, ...(reveal && { recorded: entry as Json }) };
  }
  const { type, key, after, ...recorded } = entry;
  return {
    type: string(type),
    ...optional('key', key),
    ...optional('after', after),
    bytes,
    ...(recorded['unknown'] === true && { unknown: true }),
    ...(reveal && { recorded: recorded as Record<string, Json> }),
  };
}

function readQuestion(question: unknown): InspectedQuestion {
  if (!isObject(question)) throw new StateRejected('claims');
  const { key, attempts = 0, changes = 0 } = question;
  return { key: string(key), attempts: count(attempts), changes: count(changes) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new StateRejected('claims');
  return value;
}

function string(value: unknown): string {
  if (typeof value !== 'string') throw new StateRejected('claims');
  return value;
}

function count(value: unknown): number {
  if (typeof value !== 'number') throw new StateRejected('claims');
  return value;
}

/** A member that may be absent. */
function optional<Name extends string>(name: Name, value: unknown): { readonly [name in Name]?: string } {
  return value === undefined ? {} : ({ [name]: string(value) } as { readonly [name in Name]: string });
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
