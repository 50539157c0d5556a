import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { around } from '../../../src/terminal/drawing/around.js';

describe('around', () => {
  it.each([
    [[1, 1, 1, 1, 1], 0, 3, { from: 0, to: 3 }],
    [[1, 1, 1, 1, 1], 2, 3, { from: 1, to: 4 }],
    [[1, 1, 1, 1, 1], 4, 3, { from: 2, to: 5 }],
    [[1, 1, 1], 1, 10, { from: 0, to: 3 }],
    [[2, 3, 2, 1], 1, 4, { from: 1, to: 2 }],
    [[1, 5, 1], 1, 3, { from: 1, to: 2 }],
  ])('%j around %i in %i rows', (heights, pointer, rows, stretch) => {
    expect(around(heights, pointer, rows)).toEqual(stretch);
  });

  it('has the item in it, fits, and leaves no room for a neighbour', () => {
    const heights = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 });
    fc.assert(
      fc.property(heights, fc.nat(), fc.integer({ min: 4, max: 20 }), (list, at, rows) => {
        const pointer = at % list.length;
        const { from, to } = around(list, pointer, rows);
        const used = list.slice(from, to).reduce((sum, height) => sum + height, 0);
        expect(pointer >= from && pointer < to).toBe(true);
        expect(used).toBeLessThanOrEqual(rows);
        for (const neighbour of [list[from - 1], list[to]]) {
          if (neighbour !== undefined) expect(used + neighbour).toBeGreaterThan(rows);
        }
      }),
    );
  });
});
