/**
 * A server on stdio that can be killed: a process of its own. Those that are started with the same keys are one server
 * to their clients. Its tool asks two things, one after the other, and says in which process it ended.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Parley } from 'mcp-parley';
import * as z from 'zod';

const parley = new Parley({ keys: process.env['PARLEY_KEYS'] });

serveStdio(() => {
  const mcp = new McpServer({ name: 'on-stdio', version: '1.0.0' });
  parley.attach(mcp).registerTool('t', {}, async (flow) => {
    const schema = z.object({ text: z.string() });
    const first = await flow.form('first', { message: 'First?', schema });
    const second = await flow.form('second', { message: 'Second?', schema });
    return { content: [{ type: 'text', text: `${first.text} ${second.text} in ${process.pid}` }] };
  });
  return mcp;
});
