import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Parley } from 'mcp-parley';
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Loopback } from './http.js';
import { INPUT, serveWithUsers, text } from './transfers.js';

const CONTACT = z.object({ name: z.string().min(2).max(40), mail: z.email(), day: z.iso.date() });
const CHOICE = z.object({
  plan: z.enum(['small', 'large']),
  seats: z.int().min(1).max(50),
  note: z.string().optional(),
});

/** A tool that asks two questions at a time, then for a visit to a page, for a sampling, for roots, and at last for a yes. */
export function startSurvey(): Promise<Loopback> {
  const parley = new Parley({ keys: randomBytes(32), logger: { warn: () => undefined } });
  let effects = 0;
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'survey', version: '1.0.0' });
    parley.attach(mcp).registerTool('transfer', { inputSchema: INPUT }, async (_args, flow) => {
      const [contact, choice] = await Promise.all([
        flow.form('contact', { message: 'Who are you?', schema: CONTACT }),
        flow.form('choice', { message: 'What will it be?', schema: CHOICE }),
      ]);
      const { action } = await flow.elicitUrl('page', {
        message: 'Sign the contract, please.',
        url: `https://sign.example.com/${flow.id}`,
      });
      if (action !== 'accept') return text('Not signed.');
      const summary = await flow.createMessage('summary', {
        messages: [{ role: 'user', content: { type: 'text', text: 'Sum it up.' } }],
        maxTokens: 50,
      });
      const roots = await flow.listRoots('folders');
      if (!(await flow.confirm('go', `Book ${choice.plan} for ${contact.name}?`))) return text('Not booked.');
      await flow.once('book', () => void (effects += 1));
      return text(`Booked, says ${summary.model}, in ${roots.length} folders.`);
    });
    mcp.registerTool('count', {}, () => text(String(effects)));
    return mcp;
  });
  return serveWithUsers(handler);
}
