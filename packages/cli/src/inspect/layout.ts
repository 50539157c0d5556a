import { harmlessLine } from '../safe-text.js';

/** Width of the names before what is said of a token. */
const NAME_WIDTH = 11;

/** A line with a name before it. */
export function named(name: string, text: string): string {
  return name.padEnd(NAME_WIDTH) + text;
}

/** Keys are the author's words, and may still be anything: an empty one must not look like none. */
export function nameOf(key: string): string {
  return key === '' ? "''" : harmlessLine(key);
}
