import { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { drive } from '../../src/client/index.js';
import { Parley } from '../../src/index.js';
import { memoryTasks } from '../../src/tasks/index.js';
import { connectTo, optionsWith } from '../client/harness.js';
import { TEST_KEY } from '../gate/wire-harness.js';
import { text } from './harness.js';

describe('our client on our server', () => {
  it('drives a flow through its rounds, then through the questions of its task, to its end', async () => {
    const parley = new Parley({
      keys: TEST_KEY,
      logger: { warn: () => undefined },
      tasks: memoryTasks({ pollInterval: 100 }),
    });
    const create = (): McpServer => {
      const mcp = new McpServer({ name: 'driven', version: '1.0.0' });
      parley.attach(mcp).registerTool('t', {}, async (flow) => {
        const schema = z.object({ name: z.string() });
        const { name: period } = await flow.form('period', { message: 'Period?', schema });
        await flow.detach();
        const rows = await flow.step('rows', () => period.length);
        const [a, b] = await Promise.all([
          flow.form('a', { message: 'A?', schema }),
          flow.form('b', { message: 'B?', schema }),
        ]);
        return text(`${period} ${rows} ${a.name} ${b.name}`);
      });
      return mcp;
    };
    const { client, sent } = await connectTo(create);
    const asked: string[] = [];
    const result = await drive(
      client,
      { method: 'tools/call', params: { name: 't', arguments: {} } },
      optionsWith({
        handlers: {
          form: ({ key }) => {
            asked.push(key);
            return { action: 'accept', content: { name: key } };
          },
        },
      }),
    );
    expect(result).toMatchObject(text('period 6 a b'));
    expect(asked).toEqual(['period', 'a', 'b']);
    expect(sent.map(({ method }) => method).slice(0, 2)).toEqual(['tools/call', 'tools/call']);
    expect(sent.some(({ method }) => method === 'tasks/update')).toBe(true);
  });
});
