import type { Pause } from '../attack.js';

/** The rounds that are attacked, of those that can be: of a long flow the first, one in the middle, and the last. */
export function chosenRounds(pauses: readonly Pause[]): readonly number[] {
  const chosen = new Set([0, Math.floor(pauses.length / 2), pauses.length - 1]);
  return pauses.filter((_, at) => chosen.has(at)).map(({ round }) => round);
}
