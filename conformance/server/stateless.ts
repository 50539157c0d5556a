import type { Flows } from 'mcp-parley';
import * as z from 'zod';
import { text } from './content.js';
import type { Lists } from './lists.js';
import { sampledText, userMessage } from './sampling.js';

const Name = z.object({ name: z.string() });

/** The tools that scenario `server-stateless` looks for. They are flows, so that it sees the gate too. */
export function registerStateless(flows: Flows, lists: Lists): void {
  flows.registerTool(
    'test_missing_capability',
    { description: 'Cannot do without sampling.' },
    async (flow) => text(sampledText(await flow.createMessage('word', userMessage('Say a word', 10)))),
  );

  flows.registerTool(
    'test_streaming_elicitation',
    { description: 'Asks within its own response.' },
    async (flow) => {
      const { name } = await flow.form('name', { message: 'What is your name?', schema: Name });
      return text(`Hello, ${name}!`);
    },
  );

  flows.registerTool(
    'test_logging_tool',
    { description: 'Logs, for clients that want to know.' },
    async (flow) => {
      await flow.ctx.mcpReq.log('info', 'Only seen by who set a log level.');
      return text('Logged.');
    },
  );

  flows.registerTool('test_trigger_tool_change', { description: 'Changes the list of tools.' }, () => {
    lists.changeTools();
    return text('Changed.');
  });

  flows.registerTool('test_trigger_prompt_change', { description: 'Changes the list of prompts.' }, () => {
    lists.changePrompts();
    return text('Changed.');
  });
}
