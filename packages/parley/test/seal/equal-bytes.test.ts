import * as fc from 'fast-check';
import { it } from 'vitest';
import { equalBytes } from '../../src/seal/equal-bytes.js';

it('equalBytes agrees with Buffer.equals', () => {
  const bytes = fc.uint8Array({ maxLength: 3, max: 2 });
  fc.assert(
    fc.property(bytes, bytes, (a, b) => equalBytes(a, b) === Buffer.from(a).equals(b)),
    { numRuns: 1000 },
  );
});
