import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { harmless, harmlessLine } from '../src/safe-text.js';

/** What must never reach a terminal, or hide before a person. Written anew, not taken from the source. */
function isUnseen(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const isBidi = code === 0x61c || (code >= 0x200e && code <= 0x200f) || (code >= 0x202a && code <= 0x202e);
  const isIsolate = code >= 0x2066 && code <= 0x2069;
  const isZeroWidth =
    (code >= 0x200b && code <= 0x200d) || [0xad, 0x34f, 0x2060, 0xfeff, 0x3164].includes(code);
  const isSeparator = code === 0x2028 || code === 0x2029;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  const isTag = code >= 0xe0000 && code <= 0xe0fff;
  return isControl || isBidi || isIsolate || isZeroWidth || isSeparator || isSurrogate || isTag;
}

const anyText = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom(
      '\u001b[2J',
      '\u001b]0;title\u0007',
      '\u009b31m',
      '\u202e',
      '\u200b',
      '\ud800',
      '\u{e0041}',
      '⚠\ufe0f',
      '\ufe0f',
      '\r\n',
      '\n',
      '\t',
    ),
  ),
});

describe('harmless', () => {
  it.each([
    ['the escape of a terminal', '\u001b[31mred\u001b[0m', '\\u001b[31mred\\u001b[0m'],
    ['its 8-bit form', '\u009b2J', '\\u009b2J'],
    ['a title that is set', '\u001b]0;you\u0007', '\\u001b]0;you\\u0007'],
    ['a carriage return that would write over a line', 'safe\rgone', 'safe\\u000dgone'],
    ['backspaces', 'no\b\byes', 'no\\u0008\\u0008yes'],
    ['text that runs the other way', 'a\u202eb\u2066c\u2069', 'a\\u202eb\\u2066c\\u2069'],
    ['what has no width', 'pay\u200bpal\ufeff\u2060\u00ad', 'pay\\u200bpal\\ufeff\\u2060\\u00ad'],
    ['letters that look like nothing', 'a\u3164\u115f\u034f', 'a\\u3164\\u115f\\u034f'],
    ['tags that hide a text', 'hi\u{e0068}\u{e0069}', 'hi\\u{e0068}\\u{e0069}'],
    ['halves of characters', 'a\ud83db\ude00', 'a\\ud83db\\ude00'],
    ['other ends of lines and paragraphs', 'a\u2028b\u2029c\u0085', 'a\\u2028b\\u2029c\\u0085'],
    ['a variation selector behind a letter', 'a\ufe0f\u{e0100}', 'a\\ufe0f\\u{e0100}'],
  ])('writes out %s', (_, text, shown) => {
    expect(harmless(text)).toBe(shown);
    expect(harmlessLine(text.replaceAll('\r', ''))).toBe(shown.replaceAll('\\u000d', ''));
  });

  it.each(['plain text', 'a\nb\tc', 'Zürich, 東京, Ελλάδα, مرحبا, नमस्ते', '👍🏽 ⚠️ 😀', 'C:\\new\\u001b'])(
    'leaves %j as it is',
    (text) => {
      expect(harmless(text)).toBe(text);
    },
  );

  it('makes ends of lines of two characters one', () => {
    expect(harmless('a\r\nb')).toBe('a\nb');
  });

  it('lets nothing through that cannot be seen, or that a terminal acts on', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const left = Array.from(harmless(text)).filter(
          (each) => each !== '\n' && each !== '\t' && isUnseen(each),
        );
        expect(left).toEqual([]);
        expect(Array.from(harmlessLine(text)).filter(isUnseen)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('changes nothing when it is applied again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(harmless(harmless(text))).toBe(harmless(text));
        expect(harmlessLine(harmlessLine(text))).toBe(harmlessLine(text));
      }),
    );
  });
});

describe('harmlessLine', () => {
  it('makes one space of the breaks between lines and what is around them', () => {
    expect(harmlessLine('one  \n\n\ttwo\r\nthree\tfour  five')).toBe('one two three four  five');
  });

  it('gives one line, whatever it is given', () => {
    fc.assert(fc.property(anyText, (text) => !/[\n\r\t\u2028\u2029\u0085]/.test(harmlessLine(text))));
  });
});
