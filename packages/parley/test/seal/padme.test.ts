import { describe, expect, it } from 'vitest';
import { padmeLength } from '../../src/seal/padme.js';

describe('padmeLength', () => {
  it('follows algorithm 1 of the PURBs paper, written with logarithms', () => {
    for (let length = 2; length < 20_000; length += 1) {
      const e = Math.floor(Math.log2(length));
      const s = Math.floor(Math.log2(e)) + 1;
      const unit = 2 ** (e - s);
      const expected = e === 0 ? length : Math.ceil(length / unit) * unit;
      // E = 1 gives S = 1 and E - S = 0: nothing is padded.
      expect(padmeLength(length)).toBe(e - s < 0 ? length : expected);
    }
  });

  it('has the fixed points of the paper: 9 becomes 10, powers of two stay', () => {
    expect(padmeLength(9)).toBe(10);
    expect([0, 1, 2, 3, 4, 8, 1024, 2 ** 20].map(padmeLength)).toEqual([0, 1, 2, 3, 4, 8, 1024, 2 ** 20]);
  });

  it('costs at most 12 %, never shortens, and is its own fixed point', () => {
    for (let length = 1; length < 70_000; length += 1) {
      const padded = padmeLength(length);
      if (padded < length || padded > length * 1.12 || padmeLength(padded) !== padded)
        expect.fail(`${length}`);
    }
  });
});
