import { StateTooLarge } from '../errors.js';
import { readEntry, type Journal } from '../flow/index.js';

/** Bytes of UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The error for a journal that is too large, naming its largest entries. */
export function journalTooLarge(journal: Journal, bytes: number, limit: number): StateTooLarge {
  const entries = journal.map((text) => {
    const entry = readEntry(text);
    return { key: 'key' in entry ? entry.key : entry.type, bytes: bytesOf(text) };
  });
  const largest = entries.toSorted((a, b) => b.bytes - a.bytes).slice(0, 3);
  return new StateTooLarge(bytes, limit, largest);
}
