import type { AuditContext, Changes, Exchange, Finding, Pause } from '../attack.js';
import type { Judged } from '../judge/judged.js';
import { chosenRounds } from '../judge/rounds.js';
import { findingsOf, type Tried } from './findings.js';
import { went } from './judge.js';

/** One variant of an attack. */
export interface Trial {
  /** What was sent, for the report: "a bit of the first character flipped". */
  readonly what: string;
  readonly changes: Changes;
}

/** A server that takes this many variants in a round takes more; each of them may have a real effect. */
const ENOUGH_BROKEN = 3;

/** How long the variants of one round may take, in ms: of a slow server, the findings so far are worth more than none. */
const ROUND_MS = 5000;

export const NO_STATE: readonly Finding[] = [
  { verdict: 'not-applicable', found: 'The server gives no state.' },
];

/** After so long no further round is begun, in ms: what was found so far would be lost with the attack's time. */
const ROUNDS_MS = 10_000;

/** Runs an attack in the rounds that end with a state, each in a flow of its own. */
export async function inEachRound(
  context: AuditContext,
  attack: (pause: StatePause) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const rounds = chosenRounds(context.honest.pauses.filter(hasState));
  if (rounds.length === 0) return NO_STATE;
  const deadline = performance.now() + ROUNDS_MS;
  const findings: Finding[] = [];
  for (const round of rounds) {
    if (performance.now() > deadline) {
      findings.push({ verdict: 'unclear', round, found: 'The server is too slow to get to this round.' });
      continue;
    }
    const pause = await context.walkTo(round);
    findings.push(...(hasState(pause) ? await attack(pause) : [notReached(round)]));
  }
  return findings;
}

/** A pause with a state. */
export type StatePause = Pause & { readonly state: string };

export function hasState(pause: Pause | undefined): pause is StatePause {
  return pause?.state !== undefined;
}

function withState(pause: Pause | undefined): StatePause | undefined {
  return hasState(pause) ? pause : undefined;
}

export function notReached(round: number): Finding {
  return { verdict: 'unclear', round, found: 'A new flow did not get to this round.' };
}

/**
 * Tries variants one after the other, in one flow for as long as the server refuses them: one that was taken may have
 * used it up. Where a server gives a flow up at the first refusal, each variant gets a flow of its own, or the
 * refusals would say nothing.
 *
 * @param variants Makes the variants for a pause, by names that stay the same for each flow. Another state may have
 * one less.
 */
export async function tryAll(
  context: AuditContext,
  begun: StatePause,
  variants: Variants,
  judgeOne: Judgement,
): Promise<readonly Finding[]> {
  const trying = { context, variants, judgeOne, deadline: performance.now() + ROUND_MS };
  const inOne = await tryIn(trying, begun, false);
  const saysAll = inOne.tried.length < 2 || inOne.tried.some(({ judged }) => judged.verdict !== 'safe');
  if (saysAll || inOne.pause === undefined || (await goesOn(context, inOne.pause))) return inOne.findings;
  return (await tryIn(trying, begun, true)).findings;
}

type Variants = (pause: StatePause) => readonly Trial[];
type Judgement = (pause: Pause, exchange: Exchange, trial: Trial) => Judged;

interface Trying {
  readonly context: AuditContext;
  readonly variants: Variants;
  readonly judgeOne: Judgement;
  readonly deadline: number;
}

interface Outcomes {
  readonly tried: readonly Tried[];
  /** Where the flow still stands. */
  readonly pause: StatePause | undefined;
  readonly findings: readonly Finding[];
}

async function tryIn(
  { context, variants, judgeOne, deadline }: Trying,
  begun: StatePause,
  eachAnew: boolean,
): Promise<Outcomes> {
  const { round } = begun;
  const tried: Tried[] = [];
  const names = variants(begun).map(({ what }) => what);
  let pause = eachAnew ? undefined : begun;
  for (const name of names) {
    if (performance.now() > deadline || tried.filter(wasTaken).length >= ENOUGH_BROKEN) break;
    pause ??= withState(await context.walkTo(round));
    if (pause === undefined) {
      const soFar = tried.length > 0 ? findingsOf(tried, round, names.length) : [];
      return { tried, pause, findings: [...soFar, notReached(round)] };
    }
    const trial = variants(pause).find(({ what }) => what === name);
    if (trial === undefined) continue;
    const exchange = await context.retry(pause, trial.changes);
    const judged = judgeOne(pause, exchange, trial);
    tried.push({ what: name, exchange, judged });
    const isUntouched = ['refused', 'asked'].includes(exchange.outcome.kind) && judged.verdict !== 'broken';
    if (eachAnew || !isUntouched) pause = undefined;
  }
  const isCut = performance.now() > deadline;
  return { tried, pause, findings: findingsOf(tried, round, isCut ? names.length : tried.length) };
}

/** Whether the honest retry is still taken. */
async function goesOn(context: AuditContext, pause: Pause): Promise<boolean> {
  return went(context, pause, await context.retry(pause)) !== 'refused';
}

function wasTaken({ judged }: Tried): boolean {
  return judged.verdict === 'broken';
}
