import type { Flows } from 'mcp-parley';
import * as z from 'zod';
import { text } from './content.js';
import { sampledText, userMessage } from './sampling.js';

const Name = z.object({ name: z.string() });
const Color = z.object({ color: z.string() });
const Ok = z.object({ ok: z.boolean() });
const Value = z.object({ value: z.string() });
const Context = z.object({ context: z.string() });

/**
 * The flows behind the 14 `input-required-result-*` scenarios: plain straight-line code, one round trip for
 * each question that is waited for. That a state is there, changes, and cannot be altered is the library's
 * doing, so nothing here says a word of it.
 */
export function registerMrtr(flows: Flows): void {
  flows.registerTool(
    'test_input_required_result_elicitation',
    { description: 'Asks for a name.' },
    async (flow) => {
      const { name } = await flow.form('user_name', { message: 'What is your name?', schema: Name });
      return text(`Hello, ${name}!`);
    },
  );

  flows.registerTool(
    'test_input_required_result_sampling',
    { description: 'Asks the model.' },
    async (flow) => {
      const answer = await flow.createMessage(
        'capital_question',
        userMessage('What is the capital of France?', 100),
      );
      return text(sampledText(answer));
    },
  );

  flows.registerTool(
    'test_input_required_result_list_roots',
    { description: 'Asks for the roots.' },
    async (flow) => {
      const roots = await flow.listRoots('client_roots');
      return text(roots.map(({ uri }) => uri).join('\n'));
    },
  );

  flows.registerTool(
    'test_input_required_result_request_state',
    { description: 'Asks to be confirmed; its state comes back.' },
    async (flow) => {
      await flow.form('confirm', { message: 'Go on?', schema: Ok });
      return text('state-ok');
    },
  );

  flows.registerTool(
    'test_input_required_result_multiple_inputs',
    { description: 'Asks three things of three kinds at once.' },
    async (flow) => {
      const [{ name }, greeting, roots] = await Promise.all([
        flow.form('user_name', { message: 'What is your name?', schema: Name }),
        flow.createMessage('greeting', userMessage('Generate a greeting', 50)),
        flow.listRoots('client_roots'),
      ]);
      return text(`${sampledText(greeting)} ${name}, of ${roots.map(({ uri }) => uri).join(', ')}.`);
    },
  );

  flows.registerTool(
    'test_input_required_result_multi_round',
    { description: 'Asks two things, one after the other.' },
    async (flow) => {
      const { name } = await flow.form('step1', { message: 'What is your name?', schema: Name });
      const { color } = await flow.form('step2', { message: `Which colour, ${name}?`, schema: Color });
      return text(`${name} likes ${color}.`);
    },
  );

  flows.registerTool(
    'test_input_required_result_tampered_state',
    { description: 'Asks to be confirmed; an altered state is refused.' },
    async (flow) => {
      const { ok } = await flow.form('confirm', { message: 'Go on?', schema: Ok });
      return text(ok ? 'Gone on.' : 'Stopped.');
    },
  );

  flows.registerTool(
    'test_input_required_result_capabilities',
    { description: 'Asks only what the client can answer.' },
    async (flow) => {
      const { elicitation, sampling } = flow.client;
      const [form, sampled] = await Promise.all([
        elicitation.form ? flow.form('value', { message: 'Which value?', schema: Value }) : undefined,
        sampling.messages ? flow.createMessage('sample', userMessage('Say anything', 50)) : undefined,
      ]);
      return text(
        `form: ${form?.value ?? 'not asked'}, sampling: ${sampled ? sampledText(sampled) : 'not asked'}`,
      );
    },
  );

  flows.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks for context.' },
    async (flow) => {
      const { context } = await flow.form('user_context', { message: 'Which context?', schema: Context });
      return {
        messages: [{ role: 'user', content: { type: 'text', text: `Mind this context: ${context}` } }],
      };
    },
  );
}
