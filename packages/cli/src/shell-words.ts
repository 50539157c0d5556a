import { harmlessLine } from './safe-text.js';

/** Words as a person would type them in a shell (POSIX), quoted where they need it. For people to read and copy. */
export function shellWords(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  const seen = harmlessLine(word);
  if (/^[\w@%+=:,./-]+$/.test(seen)) return seen;
  return `'${seen.replaceAll("'", String.raw`'\''`)}'`;
}
