import type { Attack, Finding, Question } from '../attack.js';
import { conclude } from '../judge/conclude.js';
import { evidenceOf } from '../judge/evidence.js';
import { secretAskedIn } from '../judge/secret-words.js';
import { isObject } from '../wire/response.js';

/** FORM-21, FORM-22. */
export const formAsksSecret: Attack = {
  id: 'form-asks-secret',
  title: 'Forms that ask for secrets',
  rule: 'Elicitation, Form Mode Security 1: no passwords, API keys, tokens or payment credentials by form (FORM-21)',
  severity: 'high',
  sends: 'Nothing of its own: looks at the forms of the honest run.',
  safe: 'Asks for names and choices by form, and for secrets by URL only.',
  fix: 'Send the user to a page of your own by a URL question; what is typed there does not pass through the client.',
  run({ honest }) {
    const findings = honest.pauses.flatMap((pause) =>
      Object.entries(pause.questions).flatMap(([key, question]): Finding[] => {
        const secret = textsOf(key, question)
          .map((text) => secretAskedIn(text))
          .find((found) => found !== undefined);
        if (secret === undefined) return [];
        const found = `A form asks for ${secret}.`;
        return [
          { verdict: 'broken', severity: 'high', round: pause.round, found, evidence: evidenceOf(pause) },
        ];
      }),
    );
    return Promise.resolve(conclude(findings, 'No form asks for a secret.'));
  },
};

/** What a user reads of a form, and the names of its fields, each on its own. */
function textsOf(key: string, { method, params }: Question): readonly string[] {
  if (method !== 'elicitation/create' || params['mode'] === 'url') return [];
  const schema = params['requestedSchema'];
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  const fields = Object.entries(properties).flatMap(([name, field]) =>
    isObject(field)
      ? field['type'] === 'boolean'
        ? []
        : [name, field['title'], field['description']]
      : [name],
  );
  const asksForText = fields.length > 0;
  return [...(asksForText ? [key, params['message']] : []), ...fields].filter(
    (text) => typeof text === 'string',
  );
}
