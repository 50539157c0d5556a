import type { AuditContext, Exchange, Finding, Pause } from '../attack.js';

/** Retries of one pause that were sent more than once, and what the probe counted. */
export interface Replayed {
  readonly round: number;
  readonly exchanges: readonly Exchange[];
  /** How often the effect happened; undefined without a probe, or where the probe does not count this effect. */
  readonly effects: number | undefined;
}

/**
 * Drives a new flow to its last round and sends that round's retry more than once.
 *
 * @param send Sends the retries.
 * @returns why it cannot be tried, as a finding.
 */
export async function replayLast(
  context: AuditContext,
  send: (pause: Pause) => Promise<readonly Exchange[]>,
): Promise<Replayed | Finding> {
  const { pauses, last } = context.honest;
  const round = pauses.at(-1)?.round;
  if (round === undefined) return { verdict: 'not-applicable', found: 'The flow asks nothing.' };
  if (last.outcome.kind !== 'done')
    return {
      verdict: 'not-applicable',
      found: 'The honest flow does not end well: there is no effect to repeat.',
    };
  const pause = await context.walkTo(round);
  if (pause === undefined)
    return { verdict: 'unclear', round, found: 'A new flow did not get to this round.' };
  const before = await context.effects();
  const exchanges = await send(pause);
  const after = await context.effects();
  const grown = before === undefined || after === undefined ? 0 : after - before;
  return { round, exchanges, effects: grown > 0 ? grown : undefined };
}

/** Judges it. The protocol leaves it to the server which states count once (STATE-08, STATE-09); effects tell. */
export function judgeReplay(replayed: Replayed | Finding, how: string): Finding {
  if ('verdict' in replayed) return replayed;
  const { round, exchanges, effects } = replayed;
  const done = exchanges.filter(({ outcome }) => outcome.kind === 'done' || outcome.kind === 'task');
  const silent = exchanges.filter(({ outcome }) => outcome.kind === 'failed' && !outcome.isInternal);
  const evidence = done.at(-1);
  const base = { round, ...(evidence === undefined ? {} : { evidence }) };
  if (effects !== undefined && effects > 1)
    return {
      ...base,
      verdict: 'broken',
      severity: 'high',
      found: `The same retry, sent ${how}: the effect happened ${effects} times.`,
    };
  if (done.length === 0 || (silent.length > 0 && effects === undefined))
    return {
      ...base,
      verdict: 'unclear',
      found: `The same retry, sent ${how}: not all of them were answered well.`,
    };
  if (effects === 1 || done.length === 1)
    return {
      ...base,
      verdict: 'safe',
      found:
        effects === 1
          ? `The same retry, sent ${how}: the effect happened once.`
          : `The same retry, sent ${how}: taken once.`,
    };
  return {
    ...base,
    verdict: 'weak',
    severity: 'note',
    found: `The same retry, sent ${how}: taken ${done.length} times. The state can be presented again until it expires; whether its effect is repeated, a --probe that counts it would show.`,
  };
}
