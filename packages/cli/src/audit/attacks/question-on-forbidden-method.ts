import type { Attack, Finding } from '../attack.js';
import { conclude, notApplicable } from '../judge/conclude.js';
import type { JsonObject } from '../wire/message.js';

/** MRTR-S-02, MRTR-S-03. */
export const questionOnForbiddenMethod: Attack = {
  id: 'question-on-forbidden-method',
  title: 'Questions where none are allowed',
  rule: 'MRTR, Supported Requests: no InputRequiredResult but on tools/call, prompts/get and resources/read (MRTR-S-03)',
  severity: 'medium',
  sends: 'The lists, discovery and completion, once as they are and once with a flow’s state and answers.',
  safe: 'Answers as ever, or with an error.',
  fix: 'Return input_required from tools/call, prompts/get and resources/read only.',
  async run(context) {
    const first = context.honest.pauses[0];
    if (!first) return [notApplicable('The flow asks nothing.')];
    const pause = (await context.walkTo(1)) ?? first;
    const { params } = context.retryOf(pause);
    const bare = { _meta: params['_meta'] ?? {} };
    const laden = {
      ...bare,
      inputResponses: params['inputResponses'] ?? {},
      requestState: params['requestState'] ?? '',
    };
    const findings: Finding[] = [];
    for (const [method, more] of methods(context.prompts[0] ?? context.tool.name)) {
      for (const carried of [bare, laden]) {
        const exchange = await context.send({ method, params: { ...more, ...carried }, caller: 'main' });
        if (exchange.outcome.kind !== 'asked') continue;
        const found = `${method} is answered with input_required${carried === laden ? ' when it brings a state' : ''}.`;
        findings.push({ verdict: 'broken', severity: 'medium', found, evidence: exchange });
        break;
      }
    }
    return conclude(findings, 'No other method is answered with a question.');
  },
};

function methods(prompt: string): readonly (readonly [string, JsonObject])[] {
  const completion = { ref: { type: 'ref/prompt', name: prompt }, argument: { name: 'audit', value: '' } };
  return [
    ['server/discover', {}],
    ['tools/list', {}],
    ['prompts/list', {}],
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['completion/complete', completion],
  ];
}
