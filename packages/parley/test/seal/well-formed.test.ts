import * as fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { isWellFormed } from '../../src/seal/well-formed.js';

const strings = fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00', '\ud83d\ude00', 'é') });

it('isWellFormed is true exactly for what survives UTF-8, with and without the native method', async () => {
  const native = Reflect.get(String.prototype, 'isWellFormed') as unknown;
  vi.resetModules();
  Reflect.set(String.prototype, 'isWellFormed', undefined);
  const fallback = await import('../../src/seal/well-formed.js');
  Reflect.set(String.prototype, 'isWellFormed', native);
  fc.assert(
    fc.property(strings, (text) => {
      const expected = Buffer.from(text).toString() === text;
      expect(isWellFormed(text)).toBe(expected);
      expect(fallback.isWellFormed(text)).toBe(expected);
    }),
  );
});
