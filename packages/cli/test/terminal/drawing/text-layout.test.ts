import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf, cut, pad, wrap, wrapHard } from '../../../src/terminal/drawing/text-layout.js';

const text = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', ' ', 'é', '日', '😀', 'e\u0301', '-', '.'),
  maxLength: 120,
});
const columns = fc.integer({ min: 2, max: 40 });

describe('wrap', () => {
  it.each([
    ['one two three', 8, ['one two', 'three']],
    ['one two', 80, ['one two']],
    ['  indented text', 10, ['  indented', 'text']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['to abcdefghij', 4, ['to', 'abcd', 'efgh', 'ij']],
    ['日本語テキスト', 6, ['日本語', 'テキス', 'ト']],
    ['a\n\nb', 10, ['a', '', 'b']],
    ['a\tb', 10, ['a  b']],
    ['', 10, ['']],
  ])('breaks %j at %i', (given, width, lines) => {
    expect(wrap(given, width)).toEqual(lines);
  });

  it('breaks a word that is longer than any', () => {
    expect(wrap('x'.repeat(3_000_000), 10)).toHaveLength(300_000);
  });

  it('makes no line too wide, and loses nothing but space', () => {
    fc.assert(
      fc.property(text, columns, (given, width) => {
        const lines = wrap(given, width);
        for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(' ', '')).toBe(given.replaceAll(' ', ''));
      }),
    );
  });
});

describe('wrapHard', () => {
  it('makes no line too wide, and loses nothing at all', () => {
    fc.assert(
      fc.property(text, columns, (given, width) => {
        const lines = wrapHard(given, width);
        for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
        expect(lines.join('')).toBe(given);
      }),
    );
  });
});

describe('cut', () => {
  it('keeps what fits, and says that there is more', () => {
    expect(cut('abcdef', 6, '…')).toBe('abcdef');
    expect(cut('abcdefg', 6, '…')).toBe('abcde…');
    expect(cut('日本語', 5, '…')).toBe('日本…');
    expect(cut('日本語', 4, '…')).toBe('日…');
    expect(cut('abc', 2, '...')).toBe('');
  });
});

describe('pad', () => {
  it('counts columns', () => {
    expect(pad('日', 4)).toBe('日  ');
    expect(pad('abcd', 2)).toBe('abcd');
  });
});
