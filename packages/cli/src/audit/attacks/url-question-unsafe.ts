import type { Attack, Finding, Pause } from '../attack.js';
import { conclude } from '../judge/conclude.js';
import { evidenceOf } from '../judge/evidence.js';
import { faultsOfUrl } from '../judge/url-faults.js';
import { isObject } from '../wire/response.js';

/** URL-01, URL-06 to URL-08, URL-15. */
export const urlQuestionUnsafe: Attack = {
  id: 'url-question-unsafe',
  title: 'Pages that no user should be sent to',
  rule: 'Elicitation, Safe URL Handling 1, 2 and 4: HTTPS, no personal data, not authenticated beforehand (URL-01, URL-06 to URL-08)',
  severity: 'high',
  sends: 'Nothing of its own: looks at the URL questions of the honest run.',
  safe: 'Sends users to an https page whose address holds an id that means nothing to others.',
  fix: 'Put a random id into the address, keep what it stands for with you, and let the page find out who opens it.',
  run({ honest }) {
    const findings = honest.pauses.flatMap((pause) => {
      const given = honest.pauses.slice(0, pause.round - 1).flatMap(givenIn);
      return Object.values(pause.questions).flatMap(({ method, params }): Finding[] => {
        if (method !== 'elicitation/create' || params['mode'] !== 'url') return [];
        return faultsOfUrl(params['url'], given).map(({ verdict, severity, found }) => ({
          verdict,
          severity,
          round: pause.round,
          found,
          evidence: evidenceOf(pause),
        }));
      });
    });
    return Promise.resolve(conclude(findings, 'No URL question is unsafe.'));
  },
};

/** Texts that the user gave in a round. */
function givenIn({ answers }: Pause): readonly string[] {
  return Object.values(answers).flatMap(({ content }) =>
    isObject(content) ? Object.values(content).filter((value) => typeof value === 'string') : [],
  );
}
