import type { Attack, AuditContext, Finding, Pause } from '../attack.js';
import { answerAll, type Attempt } from '../judge/attempt.js';
import { judgeTaken, tryWays, type Way } from '../judge/conclude.js';
import type { Judged } from '../judge/judged.js';
import { isConfirmation } from '../judge/questions.js';

/** FORM-27, FORM-18. */
export const declinedTaken: Attack = {
  id: 'declined-taken',
  title: 'A no that is taken for a yes',
  rule: 'Elicitation, Error Handling: handle decline and cancel, do not assume success (FORM-27)',
  severity: 'high',
  sends:
    'Answers with action decline and cancel, once bare and once with the content that an acceptance would have.',
  safe: 'Ends without the effect, or asks again.',
  fix: 'Look at the action before the content, and use content only of an answer whose action is accept.',
  run: (context) => tryAll(context),
};

/** Data that is declined may be done without: then the content beside a no says nothing either. */
async function tryAll(context: AuditContext): Promise<readonly Finding[]> {
  const safe = 'Declined and cancelled questions do not go on, with or without content.';
  const bare = await tryWays(context, (pause) => waysOf(pause, false), judgeBare, safe);
  const without = new Set(bare.filter(({ verdict }) => verdict !== 'safe').map(({ round }) => round));
  const laden = await tryWays(
    context,
    (pause) => (without.has(pause.round) ? [] : waysOf(pause, true)),
    judgeTaken('high', TAKEN),
    safe,
  );
  const isFault = ({ verdict }: Finding): boolean => verdict !== 'safe' && verdict !== 'not-applicable';
  const faults = [...bare, ...laden].filter(isFault);
  return faults.length > 0 ? faults : bare;
}

const TAKEN = 'takes the no for a yes and goes on';

function judgeBare(made: Attempt): Judged {
  const decides = Object.values(made.pause.questions).some(isConfirmation);
  return made.isTaken && !decides
    ? { verdict: 'weak', severity: 'note', did: 'goes on: right, if it can do without what it asked for' }
    : judgeTaken('high', TAKEN)(made);
}

function waysOf(pause: Pause, isLaden: boolean): readonly Way[] {
  const elicited = Object.values(pause.questions).every(({ method }) => method === 'elicitation/create');
  if (!elicited) return [];
  return ['decline', 'cancel'].map((action) => ({
    name: isLaden ? `${action} with content` : action,
    changes: (at) => ({ answers: answerAll(at, (honest) => (isLaden ? { ...honest, action } : { action })) }),
  }));
}
