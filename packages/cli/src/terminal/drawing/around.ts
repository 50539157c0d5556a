/** Some of the items of a list, next to each other. */
export interface Stretch {
  readonly from: number;
  /** The first one behind it. */
  readonly to: number;
}

/**
 * As many items around one of them as there is room for.
 *
 * @param heights rows that each item takes
 */
export function around(heights: readonly number[], pointer: number, rows: number): Stretch {
  let [from, to] = [pointer, pointer + 1];
  let left = rows - (heights[pointer] ?? 0);
  for (let isGrown = true; isGrown;) {
    isGrown = false;
    for (const index of [from - 1, to]) {
      const height = heights[index] ?? Infinity;
      if (height > left) continue;
      left -= height;
      isGrown = true;
      if (index < from) from = index;
      else to = index + 1;
    }
  }
  return { from, to };
}
