import stringWidth from 'fast-string-width';
import type { Contents, InspectedEntry, Json } from 'mcp-parley/inspect';
import { harmlessLine } from '../safe-text.js';
import { named, nameOf } from './layout.js';

/** Columns that a longer text widens no further: it pushes the rest of its own line aside. */
const MOST_WIDTH = 40;

/** What a token holds beside its claims, line by line. */
export function contentsOf(contents: Contents): string[] {
  switch (contents.in) {
    case 'ledger':
      return [
        named(
          'Journal',
          'in the ledger, because it is too large for a token. Its entries and their values are',
        ),
        named('', `there, sealed, under the reference ${harmlessLine(contents.reference)}`),
      ];
    case 'text':
      return [
        named('Text', `${contents.bytes} bytes, the handler's own`),
        ...(contents.text === undefined ? [] : ['', `  ${valueOf(contents.text)}`]),
        ...hint(contents.text === undefined && contents.bytes > 0),
      ];
    case 'token':
      return journalOf(contents.entries);
  }
}

function journalOf(entries: readonly InspectedEntry[]): string[] {
  if (entries.length === 0) return [named('Journal', 'empty')];
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const count = `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
  const keys = widest('KEY', entries.map(keyOf));
  const kinds = widest('KIND', entries.map(kindOf));
  const line = (key: string, kind: string, bytes: string): string =>
    `  ${padded(key, keys)}  ${padded(kind, kinds)}  ${bytes.padStart(7)}`;
  return [
    named('Journal', `${count}, ${total} bytes`),
    '',
    line('KEY', 'KIND', 'BYTES'),
    ...entries.flatMap((entry) => [
      line(keyOf(entry), kindOf(entry), String(entry.bytes)),
      ...(entry.recorded === undefined ? [] : [`      ${valueOf(entry.recorded)}`]),
    ]),
    ...hint(entries.every(({ recorded }) => recorded === undefined)),
  ];
}

function keyOf({ key, after }: InspectedEntry): string {
  if (key !== undefined) return nameOf(key);
  return after === undefined ? '(none)' : `(after ${nameOf(after)})`;
}

function kindOf({ type, unknown }: InspectedEntry): string {
  if (type === undefined) return '(not known)';
  return harmlessLine(type) + (unknown === true ? ', outcome unknown' : '');
}

/** On one line, whatever it is, and with nothing lost: JSON writes line breaks out. */
function valueOf(value: Json): string {
  return harmlessLine(JSON.stringify(value));
}

function widest(title: string, texts: readonly string[]): number {
  return Math.min(MOST_WIDTH, Math.max(title.length, ...texts.map((text) => stringWidth(text))));
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

function hint(hidden: boolean): string[] {
  return hidden ? ['', 'Values are not shown. --reveal shows them.'] : [];
}
