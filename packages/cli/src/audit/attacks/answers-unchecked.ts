import type { Attack, Pause } from '../attack.js';
import { judgeTaken, tryWays, type Way } from '../judge/conclude.js';
import { isObject } from '../wire/response.js';
import { violationsOf } from '../judge/violations.js';

/** FORM-20, GAP-14. */
export const answersUnchecked: Attack = {
  id: 'answers-unchecked',
  title: 'Answers against the schema of their form',
  rule: 'Elicitation, Form Mode Security 3: validate received content against the schema it was asked with (FORM-20)',
  severity: 'medium',
  sends:
    'Accepted forms that break the schema in one place: another type, no choice of the list, out of bounds, a required field left out.',
  safe: 'Asks again, or answers an error.',
  fix: 'Validate every answer against the schema that was asked with before you use it; a client’s own check is no protection.',
  async run(context) {
    // Two tries: what 2020-12 lets a reader ignore (formats) is a smaller fault.
    const safe = 'Content against the schema is asked again or refused.';
    const hard = await tryWays(context, (pause) => waysOf(pause, false), judgeTaken('medium'), safe);
    const mild = await tryWays(
      context,
      (pause) => waysOf(pause, true),
      (made) => {
        const judged = judgeTaken('low')(made);
        return judged.verdict === 'broken' ? { ...judged, verdict: 'weak' } : judged;
      },
      safe,
    );
    return mild.some(({ verdict }) => verdict === 'weak')
      ? [...hard.filter(({ verdict }) => verdict !== 'safe' && verdict !== 'not-applicable'), ...mild]
      : hard;
  },
};

function waysOf(pause: Pause, isMild: boolean): readonly Way[] {
  return Object.entries(pause.questions).flatMap(([key, { params }]) => {
    const content = pause.answers[key]?.['content'];
    if (!isObject(content)) return [];
    return violationsOf(params['requestedSchema'], content)
      .filter((violation) => (violation.isMild ?? false) === isMild)
      .map(({ name, value }) => ({
        name,
        changes: (at) => ({ answers: { ...at.answers, [key]: { action: 'accept', content: value } } }),
      }));
  });
}
