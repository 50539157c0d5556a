import { describe, expect, it } from 'vitest';
import { pool } from '../../bench/harness/pool.js';
import { markdownTable, rowAsMarkdown, withUnit } from '../../bench/harness/report.js';
import type { RowResult } from '../../bench/harness/row.js';

const row = (micros: number): RowResult => ({
  name: 'row',
  title: 'Row',
  leavesOut: 'the rest',
  notes: ['Pinned'],
  lines: [
    {
      scenario: 'once',
      subject: 'parley',
      unit: 'µs',
      value: { median: micros, p10: micros / 2, p90: micros * 2, rounds: 3 },
    },
  ],
  verdicts: [
    {
      scenario: 'once',
      what: 'it takes',
      value: micros,
      target: { atMost: 100, unit: 'µs' },
      met: micros <= 100,
    },
  ],
  seconds: 1,
});

describe('values in words', () => {
  it.each([
    [0.1234, 'ms', '0.12 ms'],
    [12.34, 'µs', '12.3 µs'],
    [9_999, 'µs', '9999 µs'],
    [12_345, 'µs', '12.3 ms'],
    [1.5, 'x', '1.50x'],
    [Number.NaN, 'µs', '- µs'],
  ] as const)('%d %s reads %s', (value, unit, text) => {
    expect(withUnit(value, unit)).toBe(text);
  });
});

describe('a row in Markdown', () => {
  it('has what it leaves out, its notes, a table without empty columns, and its verdicts', () => {
    expect(rowAsMarkdown(row(50))).toBe(
      [
        'Leaves out: the rest.',
        '',
        'Pinned.',
        '',
        '|  | median | p10 - p90 | per second |',
        '| --- | ---: | ---: | ---: |',
        '| once |  |  |  |',
        '| parley | 50.0 µs | 25.0 - 100 | 20,000 |',
        '',
        '- met: once: it takes: 50.0 µs (target at most 100 µs)',
      ].join('\n'),
    );
  });

  it('keeps the first column even where it has no head', () => {
    expect(markdownTable(['', 'a', 'b'], [['x', '1', '']])).toBe('|  | a |\n| --- | ---: |\n| x | 1 |');
  });
});

describe('several processes that measured a row', () => {
  it('give the median of what they found, and are judged by it', () => {
    const pooled = pool([row(90), row(300), row(99)]);
    expect(pooled?.lines[0]?.value).toEqual({ median: 99, p10: 49.5, p90: 198, rounds: 9 });
    expect(pooled?.verdicts[0]).toMatchObject({ value: 99, met: true });
    expect(pooled?.notes).toEqual(['Pinned']);
  });
});
