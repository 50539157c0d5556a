import type { Exchange, Finding } from '../attack.js';
import type { Judged } from '../judge/judged.js';

/** A trial and what came of it. */
export interface Tried {
  readonly what: string;
  readonly judged: Judged;
  readonly exchange: Exchange;
}

/** How many variants a finding names. */
const NAMED = 4;

/**
 * One finding for each way in which the server answered; what was refused is told only if all was. That is `safe` only
 * if nothing was left out.
 *
 * @param count How many there were to try.
 */
export function findingsOf(tried: readonly Tried[], round: number, count = tried.length): readonly Finding[] {
  const faults = tried.filter(({ judged }) => judged.verdict !== 'safe');
  if (count === 0)
    return [{ verdict: 'not-applicable', round, found: 'There is nothing to try in this round.' }];
  // What was not tried may be what would have been taken.
  if (faults.length === 0)
    return [{ verdict: tried.length < count ? 'unclear' : 'safe', round, found: allRefused(tried, count) }];
  return [...grouped(faults).values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined) return [];
    const { verdict, severity, did } = first.judged;
    return [
      {
        verdict,
        ...(severity === undefined ? {} : { severity }),
        round,
        found: `${named(alike)}: ${did}.`,
        evidence: first.exchange,
      },
    ];
  });
}

function grouped(tried: readonly Tried[]): ReadonlyMap<string, readonly Tried[]> {
  const groups = new Map<string, Tried[]>();
  for (const one of tried) {
    const { verdict, severity = '', did } = one.judged;
    const key = `${verdict} ${severity} ${did}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return groups;
}

function allRefused(tried: readonly Tried[], count: number): string {
  if (tried.length === 0) return `The server is too slow: none of ${count} variants were tried.`;
  const ways = [...new Set(tried.map(({ judged }) => judged.did))].join(', or ');
  if (tried.length < count)
    return `${tried.length} of ${count} variants: ${ways}. The server is too slow for the others.`;
  return count <= 2 ? `${named(tried)}: ${ways}.` : `All ${count} variants: ${ways}.`;
}

function named(alike: readonly Tried[]): string {
  const names = alike.slice(0, NAMED).map(({ what }) => what);
  const text =
    alike.length > NAMED ? `${names.join('; ')}; and ${alike.length - NAMED} more` : names.join('; ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
