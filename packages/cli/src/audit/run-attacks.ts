import { harmlessLine } from '../safe-text.js';
import type { Attack, AuditContext, Finding } from './attack.js';
import type { AttackResult } from './report/report.js';
import { unlessAborted } from './wire/guarded-wire.js';

/** How long one attack may take, in ms, beside what the user lets it wait. */
const ATTACK_MS = 20_000;

/** Attacks that run at a time: enough that a slow tool is not waited for over and over, too few to be a load test. */
const AT_ONCE = 4;

export interface RunOptions {
  readonly attacks: readonly Attack[];
  /** How many run at a time, of those that do not mind others. */
  readonly atOnce?: number;
  /** What an attack works with. What it has under way there ends with the signal. */
  readonly contextFor: (signal: AbortSignal) => AuditContext;
  /** How long the attack that waits may wait. */
  readonly waitMs?: number;
  /** How long one attack may take beside that, in ms. */
  readonly attackMs?: number;
  /** Ends the run. */
  readonly signal?: AbortSignal;
  /** Told of each attack that begins. */
  readonly onAttack?: (attack: Attack, nth: number, of: number) => void;
}

/**
 * Runs attacks: first those that do not mind others, a few at a time, then the others, one after the other. The results
 * are in the order of the attacks. One that throws, or takes too long, has found nothing that can be said; the others
 * run all the same.
 *
 * @throws the signal's reason.
 */
export async function runAttacks(options: RunOptions): Promise<AttackResult[]> {
  const { attacks, atOnce = AT_ONCE, signal, onAttack } = options;
  const results = new Map<Attack, AttackResult>();
  let begun = 0;
  const run = async (waiting: Attack[]): Promise<void> => {
    for (let attack = waiting.shift(); attack !== undefined; attack = waiting.shift()) {
      signal?.throwIfAborted();
      begun += 1;
      onAttack?.(attack, begun, attacks.length);
      const began = performance.now();
      const findings = await findingsOf(attack, options);
      results.set(attack, { attack, findings, ms: Math.round(performance.now() - began) });
    }
  };
  const together = attacks.filter(({ alone }) => alone !== true);
  await Promise.all(Array.from({ length: atOnce }, () => run(together)));
  await run(attacks.filter(({ alone }) => alone === true));
  return attacks.flatMap((attack) => results.get(attack) ?? []);
}

async function findingsOf(
  attack: Attack,
  { contextFor, attackMs = ATTACK_MS, waitMs = 0, signal }: RunOptions,
): Promise<readonly Finding[]> {
  const over = new AbortController();
  const limit = attackMs + (attack.id === 'no-expiry' ? waitMs : 0);
  const timer = setTimeout(() => over.abort(new Error('Its time is over.')), limit);
  const end = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    return await unlessAborted(attack.run(contextFor(end)), end);
  } catch (error) {
    signal?.throwIfAborted();
    const why = over.signal.aborted
      ? `It took longer than ${limit / 1000} s.`
      : // An attack's own fault, in words of its own: nothing of the target's is in it.
        `The attack itself failed: ${harmlessLine(error instanceof Error ? error.name : typeof error)}.`;
    return [{ verdict: 'unclear', found: why }];
  } finally {
    clearTimeout(timer);
    // What it left behind must not get in the way of the next one.
    over.abort(new Error('It is over.'));
  }
}
