/**
 * One text for each JSON value, for digests.
 *
 * Keys are sorted by UTF-16 code units, as in RFC 8785, and numbers and strings are written as ECMAScript writes
 * them. Stricter than RFC 8785 in what it takes: whatever could make two different values read the same is refused.
 * Text is written straight from the value. Rebuilding sorted objects first would lose own keys named `__proto__`
 * and leave integer-like keys out of order, and with them the difference between two requests.
 */
import { Uncanonical } from '../errors.js';
import { isWellFormed } from './well-formed.js';

/** Keys come from the client and the path goes to a log. */
const MAX_PATH = 200;

/**
 * Writes a JSON value canonically. `-0` is `0`, and `1.0` is `1`.
 *
 * @param maxDepth how deep arrays and objects may nest; a scalar has depth 0, `{}` has 1
 * @throws Uncanonical for a lone surrogate in a string or key, a number that is not finite, deeper nesting, or what
 * is not JSON (`undefined`, functions, bigints, symbols, instances of classes). The message names the path, not the
 * value.
 */
export function canonicalJson(value: unknown, maxDepth: number): string {
  return write(value, 0, { maxDepth, path: [] });
}

interface Walk {
  readonly maxDepth: number;
  /** Key or index at each depth above the current value; entries beyond the current depth are stale. */
  readonly path: (string | number)[];
}

function write(value: unknown, depth: number, walk: Walk): string {
  if (typeof value === 'string') return writeString(value, depth, walk);
  if (typeof value === 'number') return writeNumber(value, depth, walk);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  if (typeof value !== 'object') throw fault(`a value of type ${typeof value}`, depth, walk);
  if (depth >= walk.maxDepth) throw fault(`nesting deeper than ${walk.maxDepth}`, depth, walk);
  return Array.isArray(value) ? writeArray(value, depth, walk) : writeObject(value, depth, walk);
}

function writeNumber(value: number, depth: number, walk: Walk): string {
  if (!Number.isFinite(value)) throw fault('a number that is not finite', depth, walk);
  return JSON.stringify(value);
}

function writeString(text: string, depth: number, walk: Walk): string {
  if (!isWellFormed(text)) throw fault('a lone surrogate', depth, walk);
  return JSON.stringify(text);
}

function writeArray(array: readonly unknown[], depth: number, walk: Walk): string {
  let text = '[';
  for (let index = 0; index < array.length; index += 1) {
    walk.path[depth] = index;
    if (index > 0) text += ',';
    text += write(array[index], depth + 1, walk);
  }
  return `${text}]`;
}

function writeObject(object: object, depth: number, walk: Walk): string {
  if (!isPlain(object)) throw fault('an instance of a class', depth, walk);
  // The default order of toSorted() is that of UTF-16 code units.
  const keys = Object.keys(object).toSorted();
  let text = '{';
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    walk.path[depth] = key;
    if (index > 0) text += ',';
    text += `${writeString(key, depth + 1, walk)}:${write(object[key], depth + 1, walk)}`;
  }
  return `${text}}`;
}

/** An object literal or what JSON.parse gives, of any realm. A Map or a Date would lose what it holds. */
function isPlain(object: object): object is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function fault(found: string, depth: number, walk: Walk): Uncanonical {
  const path = walk.path.slice(0, depth).map(segment).join('');
  const shown = path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}...` : path;
  return new Uncanonical(`There is no canonical JSON for ${found} at $${shown}.`);
}

/** Keys are quoted, so that none can break out of its log line. */
function segment(key: string | number): string {
  return typeof key === 'number' || !/^[a-z_$][\w$]*$/i.test(key) ? `[${JSON.stringify(key)}]` : `.${key}`;
}
