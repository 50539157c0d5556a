import type { AuditContext, Changes, Exchange, Finding, Pause, Severity } from '../attack.js';
import { attempt, roundsOf, type Attempt } from './attempt.js';
import type { Judged } from './judged.js';

/** One way of an attack: its name before people, and what it changes. Undefined where it does not apply. */
export interface Way {
  readonly name: string;
  readonly changes: (pause: Pause) => Changes | undefined;
}

/** How long ways may take, in ms: of a slow server, the findings so far are worth more than none. */
const WAYS_MS = 9000;

/** Tries ways in all rounds, each in a flow of its own, and gives one finding for each round and kind of fault. */
export async function tryWays(
  context: AuditContext,
  waysOf: (pause: Pause) => readonly Way[],
  judge: (attempt: Attempt) => Judged,
  safe: string,
): Promise<readonly Finding[]> {
  const groups = new Map<string, Group>();
  const deadline = performance.now() + WAYS_MS;
  let count = 0;
  let left = 0;
  for (const round of roundsOf(context)) {
    const honest = context.honest.pauses[round - 1];
    for (const { name, changes } of honest ? waysOf(honest) : []) {
      if (performance.now() > deadline) {
        left += 1;
        continue;
      }
      const made = await attempt(context, round, changes);
      if (!made) continue;
      count += 1;
      const judged = judge(made);
      if (judged.verdict === 'safe') continue;
      const id = JSON.stringify([round, judged]);
      const group = groups.get(id) ?? { judged, round, evidence: made.exchange, names: [] };
      group.names.push(name);
      groups.set(id, group);
    }
  }
  if (count + left === 0) return [notApplicable('The flow has no question that this can be tried on.')];
  const findings: Finding[] = [...groups.values()].map(findingOf);
  if (left > 0)
    findings.push({
      verdict: 'unclear',
      found: `The server is slow: ${left} of ${count + left} ways were not tried.`,
    });
  return conclude(findings, safe);
}

/** The findings, or that there is nothing to find. */
export function conclude(findings: readonly Finding[], safe: string): readonly Finding[] {
  return findings.length > 0 ? findings : [{ verdict: 'safe', found: safe }];
}

export function notApplicable(found: string): Finding {
  return { verdict: 'not-applicable', found };
}

/** The usual judgement: going on is the fault; failing instead of refusing is a small one. */
export function judgeTaken(severity: Severity, did = 'takes it and goes on'): (attempt: Attempt) => Judged {
  return (made) => (made.isTaken ? { verdict: 'broken', severity, did } : judgeRefusal(made));
}

/** Of a retry that was not taken. */
export function judgeRefusal({ place, exchange }: Attempt): Judged {
  if (place !== 'failed') return { verdict: 'safe', did: 'does not take it' };
  return exchange.outcome.kind === 'failed' && exchange.outcome.isInternal
    ? { verdict: 'weak', severity: 'low', did: 'fails with an internal error instead of refusing' }
    : { verdict: 'unclear', did: 'gives no answer' };
}

/** Ways to which the server does the same, in one round. */
interface Group {
  readonly judged: Judged;
  readonly round: number;
  readonly evidence: Exchange;
  readonly names: string[];
}

function findingOf({ judged: { verdict, severity, did }, round, evidence, names }: Group): Finding {
  const found = `With ${listed(names)}: the server ${did}.`;
  return { verdict, ...(severity && { severity }), round, found, evidence };
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 4).join(', ');
  return names.length > 4 ? `${shown} and ${names.length - 4} more` : shown;
}
