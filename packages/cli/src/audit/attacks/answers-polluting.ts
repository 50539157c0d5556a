import type { Attack, AuditContext, Finding, Pause } from '../attack.js';
import { answerAll, attempt, roundsOf } from '../judge/attempt.js';
import { conclude, judgeTaken, notApplicable, tryWays, type Way } from '../judge/conclude.js';
import { placeOf } from '../judge/place.js';

const CANARY = 'parleyAuditCanary';
const NAMES = ['__proto__', 'constructor', 'prototype', 'toString'] as const;

/** STATE-15, MRTR-S-11: an answer is one that was given under its key, not one that an object inherits. */
export const answersPolluting: Attack = {
  id: 'answers-polluting',
  title: 'Answers that reach for the prototypes of objects',
  rule: 'MRTR, Error Handling: check that inputResponses is well formed (MRTR-S-11); Server Requirements 4 (STATE-15)',
  severity: 'critical',
  sends:
    'Answers under __proto__, constructor, prototype and toString, in inputResponses, in an answer and in its content.',
  safe: 'Ignores such keys and asks again, or refuses; nothing is left of them in later requests.',
  fix: 'Read answers and fields as own properties only (Object.hasOwn), and never merge what a client sent into an object of your own.',
  alone: true,
  async run(context) {
    if (roundsOf(context).length === 0) return [notApplicable('The flow asks nothing.')];
    const advancesAlone = await advancesWithoutAnswers(context);
    const taken = await tryNames(context);
    const spoilt = await isSpoilt(context, advancesAlone);
    return conclude(
      [...taken.filter(({ verdict }) => verdict !== 'safe' && verdict !== 'not-applicable'), ...spoilt],
      'Such keys are ignored or refused, and a later flow is as before.',
    );
  },
};

/** An object that has the member itself, as JSON on the wire gives it; a literal would set the prototype. */
function own(name: string, value: unknown): unknown {
  const made: Record<string, unknown> = {};
  Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
  return made;
}

/** Where the names are put, and the same place with nothing in it. */
interface Spot {
  readonly where: string;
  readonly empty: (at: Pause) => unknown;
  readonly laden: (at: Pause, nested: (value: unknown) => unknown) => unknown;
  /** Whether it matters what stands there. */
  readonly isRead?: (pause: Pause) => boolean;
}

const SPOTS: readonly Spot[] = [
  {
    where: 'inputResponses',
    empty: () => ({}),
    laden: ({ answers }, nested) => nested({ ...answers, [CANARY]: 'audit' }),
  },
  {
    where: 'an answer',
    empty: (at) => answerAll(at, () => ({})),
    laden: (at, nested) => answerAll(at, (honest) => nested({ ...honest, [CANARY]: 'audit' })),
  },
  {
    where: 'an answer’s content',
    empty: (at) => answerAll(at, () => ({ action: 'accept', content: {} })),
    laden: (at, nested) =>
      answerAll(at, (honest) => ({ action: 'accept', content: nested(honest['content'] ?? {}) })),
    isRead: ({ questions }) => Object.values(questions).every(({ params }) => params['mode'] !== 'url'),
  },
];

/** Tries the spots of each round. Where a server takes nothing for an answer, the names say no more. */
async function tryNames(context: AuditContext): Promise<readonly Finding[]> {
  const open = new Set<string>();
  for (const round of roundsOf(context)) {
    for (const { where, empty } of SPOTS) {
      const made = await attempt(context, round, (at) => ({ answers: empty(at) }));
      if (made && !made.isTaken) open.add(`${round} ${where}`);
    }
  }
  const waysOf = (pause: Pause): readonly Way[] =>
    SPOTS.filter(
      ({ where, isRead }) => open.has(`${pause.round} ${where}`) && (isRead?.(pause) ?? true),
    ).flatMap(({ where, laden }) =>
      NAMES.map((name) => ({
        name: `${name} of ${where}`,
        changes: (at) => ({ answers: laden(at, nest(name)) }),
      })),
    );
  return tryWays(
    context,
    waysOf,
    judgeTaken('medium', 'takes what an object inherits for an answer and goes on'),
    '',
  );
}

function nest(name: string): (value: unknown) => unknown {
  return (value) => own(name, name === 'constructor' ? own('prototype', value) : value);
}

/** Whether a flow goes on without any answer, as it is: then that says nothing later. */
async function advancesWithoutAnswers(context: AuditContext): Promise<boolean> {
  const [round = 1] = roundsOf(context);
  return (await attempt(context, round, () => ({ answers: {} })))?.isTaken ?? true;
}

/** Whether a later, clean flow differs. */
async function isSpoilt(context: AuditContext, advancesAlone: boolean): Promise<readonly Finding[]> {
  const [round = 1] = roundsOf(context);
  const honest = context.honest.pauses[0];
  const broken = (found: string, evidence: Finding['evidence']): readonly Finding[] => [
    { verdict: 'broken', severity: 'critical', round: 1, found, ...(evidence && { evidence }) },
  ];
  if (!honest) return [];
  const first = await context.send(honest.request);
  if (JSON.stringify(first.reply).includes(CANARY))
    return broken('A later, clean request is answered with what an earlier one has put there.', first);
  if (first.outcome.kind !== 'asked' || placeOf(context, honest, first) !== 'same')
    return broken('After these answers, a clean first request no longer asks what it asked before.', first);
  if (advancesAlone) return [];
  const later = await attempt(context, round, () => ({ answers: {} }));
  return later?.isTaken
    ? broken('After these answers, a clean flow goes on without any answer.', later.exchange)
    : [];
}
