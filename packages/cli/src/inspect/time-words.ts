const UNITS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** The last moment that a date can be (ECMAScript, "Time Values"). */
const LAST_DATE = 8.64e15;

/** A moment, in ms since 1970, as ISO 8601 in UTC. */
export function dateOf(time: number): string {
  return time > LAST_DATE ? 'after all dates' : new Date(time).toISOString();
}

/** How long something takes, in its largest unit: `3 min`, `26 h`, `4 days`. */
function lengthOf(ms: number): string {
  const whole = Math.abs(ms);
  // Days only from two on: 26 h says more than 1 day.
  const [unit, size] = UNITS.find(([unit, size]) => whole >= size * (unit === 'day' ? 2 : 1)) ?? ['s', 1000];
  const count = Math.floor(whole / size);
  return `${count} ${unit}${unit === 'day' ? 's' : ''}`;
}

/** A moment as seen from another: `3 min ago`, `in 7 min`, `just now`. */
export function ageOf(time: number, now: number): string {
  if (Math.abs(now - time) < 1000) return 'just now';
  return time < now ? `${lengthOf(now - time)} ago` : `in ${lengthOf(time - now)}`;
}
