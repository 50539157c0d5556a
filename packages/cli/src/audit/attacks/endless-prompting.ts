import type { Attack, AuditContext, Exchange, Finding, Pause } from '../attack.js';
import { answerAll, roundsOf } from '../judge/attempt.js';
import { conclude, notApplicable } from '../judge/conclude.js';
import { questionsIn } from '../judge/questions.js';
import type { JsonObject } from '../wire/message.js';

const TIMES = 10;
const MOST_ROUNDS = 20;

/** One more question after a no is allowed (GAP-16); a cancelled one may have been a slip. */
const ALLOWED = 2;

/** By how much a question and its state may grow over ten wrong answers: messages tell what was wrong. */
const GROWTH = 2048;

/** GAP-06, GAP-16, FORM-27. */
export const endlessPrompting: Attack = {
  id: 'endless-prompting',
  title: 'Questions without end',
  rule: 'Elicitation, Error Handling: handle decline and cancel (FORM-27); MRTR, Server Requirements 8 (GAP-06, GAP-16)',
  severity: 'medium',
  sends: 'The same no ten times, and ten answers that are of no use.',
  safe: 'Ends the flow after a no, and does not grow with useless answers.',
  fix: 'End the flow when a question is declined, count rounds in the state, and keep nothing of useless answers.',
  async run(context) {
    const findings: Finding[] = [];
    const { pauses, last } = context.honest;
    if (pauses.length === 0) return [notApplicable('The flow asks nothing.')];
    if (pauses.length >= MOST_ROUNDS && last.outcome.kind === 'asked') {
      const found = `The honest run still asks after ${pauses.length} rounds.`;
      findings.push({ verdict: 'weak', severity: 'medium', found, evidence: last });
    }
    for (const round of roundsOf(context)) {
      findings.push(
        ...(await insist(context, round, 'decline')),
        ...(await insist(context, round, 'cancel')),
      );
    }
    findings.push(...(await bother(context)));
    return conclude(findings, 'The flow ends after a no, and useless answers leave nothing behind.');
  },
};

/** Says no until the server gives up asking. */
async function insist(
  context: AuditContext,
  round: number,
  action: 'decline' | 'cancel',
): Promise<readonly Finding[]> {
  // Only a form and a page can be declined; for other kinds this would be an answer of a wrong kind.
  const asked = Object.values(context.honest.pauses[round - 1]?.questions ?? {});
  if (asked.some(({ method }) => method !== 'elicitation/create')) return [];
  const made = await repeat(context, round, () => ({ action }));
  if (made === undefined || made.times <= ALLOWED) return [];
  const found =
    made.times >= TIMES
      ? `After ${TIMES} answers of ${action} in a row, the server still asks.`
      : `It takes ${made.times + 1} answers of ${action} until the server gives up asking.`;
  // Who closed a question may be asked again later; who said no may not.
  const severity = made.times >= TIMES && action === 'decline' ? 'medium' : 'low';
  return [{ verdict: 'weak', severity, round, found, evidence: made.last }];
}

/** Gives answers of no use, and sees whether what comes back grows. */
async function bother(context: AuditContext): Promise<readonly Finding[]> {
  const [round = 1] = roundsOf(context);
  const made = await repeat(context, round, () => ({
    action: 'accept',
    content: { parleyAuditNonsense: 'a'.repeat(512) },
  }));
  if (made === undefined || made.times < TIMES || made.grown <= GROWTH) return [];
  const found = `With ten useless answers, questions and state grow by ${made.grown} characters.`;
  return [{ verdict: 'weak', severity: 'medium', round, found, evidence: made.last }];
}

interface Repeated {
  /** How often the server asked again. */
  readonly times: number;
  readonly grown: number;
  readonly last: Exchange;
}

/** Gives one answer again and again, as long as the server asks. */
async function repeat(
  context: AuditContext,
  round: number,
  answer: () => JsonObject,
): Promise<Repeated | undefined> {
  let pause: Pause | undefined = await context.walkTo(round);
  if (!pause) return undefined;
  const before = sizeOf(pause);
  let last: Exchange | undefined;
  let times = 0;
  for (; times < TIMES; times += 1) {
    last = await context.retry(pause, { answers: answerAll(pause, answer) });
    if (last.outcome.kind !== 'asked') break;
    pause = pauseAfter(pause, last);
  }
  return last && { times, grown: sizeOf(pause) - before, last };
}

/** The pause that a repeated question is. */
function pauseAfter({ round, caller }: Pause, { request, reply, outcome }: Exchange): Pause {
  const state = outcome.kind === 'asked' ? outcome.state : undefined;
  return { round, caller, request, reply, state, questions: questionsIn(reply.result), answers: {} };
}

function sizeOf({ reply }: Pause): number {
  return JSON.stringify(reply.result ?? {}).length;
}
