import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { harmlessJson } from '../../src/output/json.js';
import { harmless } from '../../src/safe-text.js';

describe('harmless JSON', () => {
  it('escapes what a terminal would act on, or nobody would see', () => {
    expect(harmlessJson({ '\u009b': '\u202e\u200b\u{e0041}\u0007\u007f\u2028' })).toBe(
      String.raw`{` + '\n' + String.raw`  "\u009b": "\u202e\u200b\udb40\udc41\u0007\u007f\u2028"` + '\n}',
    );
  });

  it('leaves what is seen', () => {
    expect(harmlessJson('ä漢😀"\\')).toBe(String.raw`"ä漢😀\"\\"`);
  });

  it('is the same value, and harmless, whatever it holds', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), text, (value, key) => {
        const whole = { value, [key]: key };
        const json = harmlessJson(whole);
        expect(JSON.stringify(JSON.parse(json))).toBe(JSON.stringify(whole));
        expect(harmless(json)).toBe(json);
      }),
    );
  });
});
