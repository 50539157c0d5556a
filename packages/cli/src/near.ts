/** Names longer than this are not compared: the work grows with the product of their lengths. */
const LONGEST = 64;

/** How many are named at most. */
const MOST = 3;

/** The names that somebody may have meant, the nearest first. */
export function nearNames(meant: string, names: readonly string[]): string[] {
  if (meant.length > LONGEST) return [];
  const most = Math.min(3, Math.max(1, Math.floor(meant.length * 0.4)));
  return names
    .filter((name) => name.length <= LONGEST)
    .map((name) => ({ name, distance: distanceOf(meant.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= most || isPart(meant, name))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** Whether one stands in the other: `deploy` for `releases.deploy`. */
function isPart(meant: string, name: string): boolean {
  return meant.length >= 3 && name.toLowerCase().includes(meant.toLowerCase());
}

/** Insertions, deletions, substitutions and swaps of neighbours that make one text of the other. */
function distanceOf(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const kept = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : kept;
      next.push(Math.min(kept, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
