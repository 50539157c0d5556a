import type { Attack, AuditContext, Exchange, Finding, Question } from '../attack.js';
import { conclude, notApplicable } from '../judge/conclude.js';
import { questionsIn } from '../judge/questions.js';
import { roundsOf } from '../judge/attempt.js';
import type { JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

const MISSING_CAPABILITY = -32_021;
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

const DECLARED: readonly (readonly [string, JsonObject])[] = [
  ['no capability', {}],
  ['elicitation by URL only', { elicitation: { url: {} } }],
  ['elicitation by form only', { elicitation: { form: {} } }],
];

/** MRTR-S-07, MRTR-S-08, META-06, META-08, FORM-04. */
export const capabilitiesWithheld: Attack = {
  id: 'capabilities-withheld',
  title: 'Questions to a client that did not declare them',
  rule: 'MRTR, Server Requirements 7: no question whose capability the request did not declare (MRTR-S-07); Basic, per-request fields: -32021, HTTP 400 (MRTR-S-08, META-08)',
  severity: 'high',
  sends:
    'First requests and honest retries that declare no capability, or another mode of elicitation than the flow needs.',
  safe: 'Answers -32021 with HTTP 400, or does without the question.',
  fix: 'Before you return a question, look whether this very request declares its capability and mode; answer -32021 if not.',
  async run(context) {
    const first = context.honest.pauses[0];
    if (!first) return [notApplicable('The flow asks nothing.')];
    const findings: Finding[] = [];
    for (const [name, declared] of DECLARED) {
      const meta = { ...metaOf(first.request.params), [CAPABILITIES]: declared };
      const exchange = await context.send({
        ...first.request,
        params: { ...first.request.params, _meta: meta },
      });
      const finding = judge(exchange, declared, `A first request that declares ${name}`, context, 1);
      if (finding) findings.push(finding);
      for (const round of roundsOf(context)) {
        const pause = await context.walkTo(round);
        if (!pause) continue;
        const again = await context.retry(pause, { meta: { [CAPABILITIES]: declared } });
        const found = judge(again, declared, `A retry that declares ${name}`, context, round);
        if (found) findings.push(found);
      }
    }
    return conclude(findings, 'Questions are put only to requests that declare them; others get -32021.');
  },
};

function judge(
  exchange: Exchange,
  declared: JsonObject,
  what: string,
  context: AuditContext,
  round: number,
): Finding | undefined {
  const { outcome, reply } = exchange;
  const found = (verdict: 'weak' | 'broken', severity: 'low' | 'high', did: string): Finding => ({
    verdict,
    severity,
    round,
    found: `${what} ${did}.`,
    evidence: exchange,
  });
  if (outcome.kind === 'asked') {
    const undeclared = Object.values(questionsIn(reply.result)).some(
      (question) => !isDeclared(question, declared),
    );
    return undeclared ? found('broken', 'high', 'is asked for what it did not declare') : undefined;
  }
  if (outcome.kind === 'failed')
    return outcome.isInternal
      ? found('weak', 'low', 'fails with an internal error instead of -32021')
      : { verdict: 'unclear', round, found: `${what} gets no answer.`, evidence: exchange };
  if (outcome.kind !== 'refused') return undefined;
  if (outcome.code !== MISSING_CAPABILITY)
    return found('weak', 'low', `is refused with ${outcome.code ?? 'no code'} instead of -32021`);
  return context.wire.kind === 'http' && outcome.status !== 400
    ? found('weak', 'low', `is refused with -32021, but with HTTP status ${outcome.status} instead of 400`)
    : undefined;
}

function isDeclared({ method, params }: Question, declared: JsonObject): boolean {
  if (method === 'sampling/createMessage') return isObject(declared['sampling']);
  if (method === 'roots/list') return isObject(declared['roots']);
  const { elicitation } = declared;
  if (!isObject(elicitation)) return false;
  const isBare = Object.keys(elicitation).length === 0; // FORM-02
  return params['mode'] === 'url'
    ? Object.hasOwn(elicitation, 'url')
    : isBare || Object.hasOwn(elicitation, 'form');
}

function metaOf(params: JsonObject): JsonObject {
  return isObject(params['_meta']) ? params['_meta'] : {};
}
