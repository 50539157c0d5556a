import { createMcpHandler, McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { Parley, type Flow } from 'mcp-parley';
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Loopback } from './http.js';
import { INPUT, serveWithUsers, text } from './transfers.js';

const NAME = z.object({ name: z.string() });

/** How often was looked whether somebody has signed in, by flow. */
const looks = new Map<string, number>();

/** Every second flow is kept waiting once more. */
function hasSignedIn(flow: string): true | undefined {
  if (!looks.has(flow)) looks.set(flow, looks.size % 2);
  const left = looks.get(flow) ?? 0;
  looks.set(flow, left - 1);
  return left <= 0 ? true : undefined;
}

/** Tools that are right, and ask in ways that few do. Each is called `transfer`. */
export const UNUSUAL_FLOWS = {
  'a page first, and then a form': async (flow) => {
    await flow.elicitUrl('page', { message: 'Read this.', url: 'https://help.example.com/' });
    const { name } = await flow.form('name', { message: 'Your name?', schema: NAME });
    return text(`Good day, ${name}.`);
  },
  'a page, and a wait of another length each time': async (flow) => {
    const { action } = await flow.elicitUrl('page', {
      message: 'Sign in.',
      url: `https://login.example.com/${flow.id}`,
    });
    if (action !== 'accept') return text('Not signed in.');
    await flow.waitFor('login', () => hasSignedIn(flow.id), { hold: 0, every: 10 });
    return text((await flow.confirm('go', 'Go on?')) ? 'Done.' : 'Not done.');
  },
  'data in several rounds': async (flow) => {
    for (const key of ['first', 'second', 'third']) {
      await flow.form(key, { message: `The ${key} name?`, schema: NAME });
    }
    return text('Good day to all.');
  },
  'data that it can do without': async (flow) => {
    const { action } = await flow.elicit('nick', { message: 'A nickname?', schema: NAME });
    const go = await flow.confirm('go', 'Go on?');
    return text(go ? `Done: ${action}.` : 'Not done.');
  },
  'optional fields, and several of a list': async (flow) => {
    const schema = z.object({
      note: z.string().optional(),
      days: z
        .array(z.enum(['mon', 'tue', 'wed']))
        .min(1)
        .max(2),
    });
    const { days } = await flow.form('when', { message: 'When?', schema });
    return text(days.join());
  },
} satisfies Readonly<Record<string, (flow: Flow) => Promise<CallToolResult>>>;

/** Serves one of them. */
export function startUnusual(name: keyof typeof UNUSUAL_FLOWS): Promise<Loopback> {
  const parley = new Parley({ keys: randomBytes(32), logger: { warn: () => undefined } });
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'unusual', version: '1.0.0' });
    const run: (flow: Flow) => Promise<CallToolResult> = UNUSUAL_FLOWS[name];
    parley.attach(mcp).registerTool('transfer', { inputSchema: INPUT }, (_args, flow) => run(flow));
    mcp.registerTool('count', {}, () => text('0'));
    return mcp;
  });
  return serveWithUsers(handler);
}
