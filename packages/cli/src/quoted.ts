import { harmlessLine } from './safe-text.js';

/** Longest piece of a foreign text that stands in a line of ours, in characters. */
const LONGEST = 500;

/** A server's text on one line, harmless and cut. */
export function quoted(text: string): string {
  // What is made visible takes up to ten characters for one.
  const line = harmlessLine(text.slice(0, LONGEST * 2));
  return line.length > LONGEST || text.length > LONGEST * 2 ? `${line.slice(0, LONGEST)} …` : line;
}

/** As {@link quoted}, as JSON writes it, in quotes, so that one sees where it begins and ends. */
export function inQuotes(text: string): string {
  return quoted(JSON.stringify(text));
}
