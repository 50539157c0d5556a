import { describe, expect, it } from 'vitest';
import { describeEntry, isKeyed, readEntry, writeEntry, type JournalEntry } from '../../src/flow/journal.js';

const entries: readonly JournalEntry[] = [
  { type: 'step', key: 'a', value: { list: [1, null, 'x'] } },
  { type: 'step', key: 'void' },
  { type: 'step-failed', key: 'b', name: 'TypeError', message: 'line\nbreak \u2028 and \ud800' },
  { type: 'wait', key: 'c', value: false },
  { type: 'answer', key: 'd', question: 'digest', answer: { action: 'accept', content: { x: 1 } } },
  { type: 'answer', key: 'e', question: 'digest', answer: { result: { roots: [] } } },
  { type: 'answer-invalid', key: 'f', question: 'digest', attempts: 3, reason: `'x' is missing.` },
  { type: 'detach', key: '\0detach' },
  { type: 'now', value: 1 },
  { type: 'random', value: 0.1 },
  { type: 'uuid', value: 'u' },
];

describe('journal', () => {
  it.each(entries.map((entry) => [entry.type, entry] as const))(
    'reads back what it wrote: %s',
    (_, entry) => {
      expect(readEntry(writeEntry(entry))).toStrictEqual(entry);
    },
  );

  it('writes an entry in one line, so that lines can hold a journal', () => {
    for (const entry of entries) expect(writeEntry(entry)).not.toMatch(/[\n\r]/);
  });

  it('tells what has a key from what has none', () => {
    expect(entries.filter(isKeyed).map((entry) => describeEntry(entry))).toEqual([
      'a step',
      'a step',
      'a step',
      'a wait',
      'a question',
      'a question',
      'a question',
      'a detach',
    ]);
  });
});
