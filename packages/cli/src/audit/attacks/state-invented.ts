import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Attack } from '../attack.js';
import { judgeText } from '../state/judge.js';
import { peel } from '../state/peel.js';
import { inEachRound, tryAll, type StatePause } from '../state/trials.js';

/** States that nobody gave (STATE-01, STATE-02, STATE-03). */
export const stateInvented: Attack = {
  id: 'state-invented',
  title: 'A state that the server never gave',
  rule: 'MRTR, Server Requirements 4 (STATE-01, STATE-02, STATE-03)',
  severity: 'critical',
  sends: 'Random text, empty and made-up JSON (plain and in base64), `null` as text, and the empty string.',
  safe: 'It answers each with an error, and neither goes on nor asks afresh.',
  fix: 'Take only states that verify under a key that the server alone holds.',
  run: (context) =>
    inEachRound(context, (pause) =>
      tryAll(
        context,
        pause,
        (at) => inventedFor(at).map(([what, state]) => ({ what, changes: { state } })),
        judgeText(context),
      ),
    ),
};

type Invented = readonly (readonly [what: string, state: string])[];

function inventedFor(pause: StatePause): Invented {
  const { round, questions, answers } = pause;
  const keys = Object.keys(questions);
  const advanced = {
    round: round + 1,
    step: round + 1,
    stage: round + 1,
    approved: true,
    keys,
    answers,
    settled: Object.fromEntries(keys.map((key) => [key, answers[key]?.['content'] ?? {}])),
  };
  return [
    ['random text', randomBytes(30).toString('base64url')],
    ['a random UUID', randomUUID()],
    ...inJson('an empty object', {}),
    ...inJson('an approval', { approved: true, confirmed: true }),
    ...inJson('an advanced flow', advanced),
    ...likeGiven(pause),
    ['the text `null`', 'null'],
    ['the empty string', ''],
  ];
}

/** Plain, and in base64. */
function inJson(what: string, value: unknown): Invented {
  const text = JSON.stringify(value);
  return [
    [what, text],
    [`${what} in base64url`, Buffer.from(text).toString('base64url')],
  ];
}

/** What a readable state says, as it would say it a round later; in a signed one's own encoding, too. */
function likeGiven({ state }: StatePause): Invented {
  return peel(state).flatMap(({ value, withValue }) => {
    const later = advancedCopy(value);
    if (typeof value !== 'object' || isDeepStrictEqual(later, value)) return [];
    const copies = inJson("the state's own fields, advanced", later);
    return copies.concat([['the state, advanced', withValue(later)]]);
  });
}

function advancedCopy(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) =>
      typeof member === 'boolean'
        ? true
        : typeof member === 'number' && /round|step|stage|phase|index|turn/i.test(name)
          ? member + 1
          : typeof member === 'bigint'
            ? Number(member)
            : member,
    ),
  );
}
