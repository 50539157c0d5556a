import { setTimeout as delay } from 'node:timers/promises';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Flows } from 'mcp-parley';
import * as z from 'zod';
import { text } from './content.js';

const Name = z.object({ name: z.string() });
const Confirm = z.object({ confirm: z.boolean() });
const Part = z.object({ name: z.string(), confirm: z.boolean() });

/** The flows behind the ten `tasks-*` scenarios. What a task is on the wire is the library's doing. */
export function registerTasks(flows: Flows): void {
  flows.registerTool(
    'greet',
    { description: 'Greets, and is never a task.', inputSchema: Name },
    ({ name }) => text(`Hello, ${name}!`),
  );

  flows.registerTool(
    'slow_compute',
    {
      description: 'Computes for a while.',
      inputSchema: z.object({ seconds: z.number(), label: z.string().optional() }),
      task: 'optional',
    },
    async ({ seconds, label = 'nothing' }, flow) => {
      await flow.step('compute', ({ signal }) => delay(seconds * 1000, null, { signal }));
      return text(`Computed ${label}.`);
    },
  );

  flows.registerTool(
    'failing_job',
    { description: 'Fails after a while, as tools fail.', task: 'required' },
    async (flow) => {
      await flow.step('work', ({ signal }) => delay(1000, null, { signal }));
      throw new Error('This job fails to show how that looks.');
    },
  );

  flows.registerTool(
    'protocol_error_job',
    { description: 'Fails as requests fail.', task: 'required' },
    () => {
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'This job fails as a request.');
    },
  );

  flows.registerTool(
    'confirm_delete',
    {
      description: 'Asks before it deletes.',
      inputSchema: z.object({ filename: z.string() }),
      task: 'required',
    },
    async ({ filename }, flow) => {
      const { confirm } = await flow.form('confirm', { message: `Delete ${filename}?`, schema: Confirm });
      return text(confirm ? `Deleted ${filename}.` : `Kept ${filename}.`);
    },
  );

  flows.registerTool(
    'multi_input',
    { description: 'Asks two things at once.', task: 'required' },
    async (flow) => {
      const parts = await Promise.all([
        flow.form('first', { message: 'What is the first part?', schema: Part }),
        flow.form('second', { message: 'What is the second part?', schema: Part }),
      ]);
      return text(parts.map(({ name }) => name).join(' and '));
    },
  );

  flows.registerTool(
    'test_tool_with_task',
    { description: 'Asks in a round, then goes on as a task.' },
    async (flow) => {
      const { name } = await flow.form('user_name', { message: 'What is your name?', schema: Name });
      await flow.detach();
      return text(`Hello, ${name}!`);
    },
  );
}
