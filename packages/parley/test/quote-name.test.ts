import { describe, expect, it } from 'vitest';
import { quoteName, quoteNames } from '../src/quote-name.js';

describe('quoteName', () => {
  it.each([
    ['region', '"region"'],
    ['', '""'],
    ['größe 例え 😀', '"größe 例え 😀"'],
    ['"', String.raw`"\""`],
    ["it's", `"it's"`],
    ['\\n', String.raw`"\\n"`],
    ['a\nb\t\0', String.raw`"a\u000ab\u0009\u0000"`],
    ['\u001b[2J', String.raw`"\u001b[2J"`],
    ['\u009b31m\u007f', String.raw`"\u009b31m\u007f"`],
    ['\u202emoc.elpmaxe\u2066\u200f', String.raw`"\u202emoc.elpmaxe\u2066\u200f"`],
    ['a\u200bb\u200d\u2060\ufeff\u00ad', String.raw`"a\u200bb\u200d\u2060\ufeff\u00ad"`],
    ['\u2028\u2029', String.raw`"\u2028\u2029"`],
    ['\u3164\ufe0f', String.raw`"\u3164\ufe0f"`],
    ['\u{e0041}', String.raw`"\u{e0041}"`],
    ['\ud800', String.raw`"\ud800"`],
  ])('writes out in %j what cannot be seen, or acts', (name, quoted) => {
    expect(quoteName(name)).toBe(quoted);
  });

  it('takes the other mark', () => {
    expect(quoteName(`it's "x"`, "'")).toBe(String.raw`'it\'s "x"'`);
  });

  it('cuts what is long, between characters', () => {
    expect(quoteName('k'.repeat(80))).toBe(`"${'k'.repeat(80)}"`);
    expect(quoteName('k'.repeat(5_000_000))).toBe(`"${'k'.repeat(80)}…"`);
    expect(quoteName('😀'.repeat(81))).toBe(`"${'😀'.repeat(80)}…"`);
    expect(quoteName('\0'.repeat(1000)).length).toBeLessThan(500);
  });
});

describe('quoteNames', () => {
  it('gives the first few, and how many there are beside', () => {
    expect(quoteNames(['a', 'b'])).toBe('"a", "b"');
    expect(
      quoteNames(
        Array.from({ length: 10 }, (_, i) => `${i}`),
        "'",
      ),
    ).toBe("'0', '1', '2', '3', '4', '5', '6', '7' and 2 more");
  });
});
