import type { Attack, Finding, Severity } from '../attack.js';
import { conclude } from '../judge/conclude.js';
import { evidenceOf } from '../judge/evidence.js';
import { faultsOfQuestion } from '../judge/question-faults.js';
import type { JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

/** MRTR-S-04 to MRTR-S-06, MRTR-S-20, CORE-06, CORE-07, FORM-05, FORM-07, FORM-08. */
export const interimMalformed: Attack = {
  id: 'interim-malformed',
  title: 'Questions that are not as the schema wants them',
  rule: 'MRTR, Server Requirements 2 and 6 (MRTR-S-04 to MRTR-S-06); schema, InputRequiredResult (CORE-06, CORE-07)',
  severity: 'medium',
  sends: 'Nothing of its own: looks at the questions of the honest run.',
  safe: 'Every input_required result has questions or a state, and both have the form of the schema.',
  fix: 'Build input_required results by a function that checks them, and hold them against the schema in your tests.',
  run({ honest }) {
    const findings: Finding[] = [];
    for (const pause of honest.pauses) {
      for (const [severity, found] of faultsOf(pause.reply.result ?? {})) {
        const verdict = severity === 'medium' ? 'broken' : 'weak';
        findings.push({ verdict, severity, round: pause.round, found, evidence: evidenceOf(pause) });
      }
    }
    return Promise.resolve(
      conclude(findings, 'The questions of the honest run are as the schema wants them.'),
    );
  },
};

type Fault = readonly [Severity, string];

function faultsOf(result: JsonObject): readonly Fault[] {
  const { inputRequests, requestState } = result;
  const faults: Fault[] = [];
  const hasQuestions = isObject(inputRequests) && Object.keys(inputRequests).length > 0;
  if (!hasQuestions && requestState === undefined)
    faults.push([
      'medium',
      'The result has neither questions nor a state, so that there is nothing to come back with.',
    ]);
  if (requestState !== undefined && typeof requestState !== 'string')
    faults.push(['medium', 'requestState is no string.']);
  if (requestState === '')
    faults.push(['low', 'requestState is an empty string, which clients may take for none.']);
  if (inputRequests !== undefined && !isObject(inputRequests))
    faults.push(['medium', 'inputRequests is no object.']);
  for (const name of ['ttlMs', 'cacheScope'])
    if (Object.hasOwn(result, name))
      faults.push(['low', `The result holds ${name}, which is for final results only.`]);
  const questions = isObject(inputRequests) ? Object.values(inputRequests) : [];
  const said = questions.flatMap((question) => faultsOfQuestion(question));
  // One question, or field, speaks for all that have the same fault.
  return [...faults, ...new Map(said.map((fault) => [fault[1], fault])).values()];
}
