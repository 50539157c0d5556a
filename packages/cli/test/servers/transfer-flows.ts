import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import { Parley, type Flow } from 'mcp-parley';
import type { Loopback } from './http.js';
import { INPUT, PAYMENT, REASON, serveWithUsers, text } from './transfers.js';

/** Tool `transfer` as a flow: once by `flow.once`, or by single-use rounds. */
export function startFlows(singleUse: boolean): Promise<Loopback> {
  const parley = new Parley({ keys: randomBytes(32), singleUse, logger: { warn: () => undefined } });
  let effects = 0;

  async function transfer(flow: Flow): Promise<boolean> {
    const { to, amount } = await flow.form('payment', {
      message: 'Whom to pay, and how much?',
      schema: PAYMENT,
    });
    const { reason } = await flow.form('reason', { message: 'What for?', schema: REASON });
    if (!(await flow.confirm('confirm', `Pay ${amount} to ${to} for ${reason}?`))) return false;
    if (singleUse) effects += 1;
    else await flow.once('pay', () => void (effects += 1));
    return true;
  }

  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'bank', version: '1.0.0' });
    const flows = parley.attach(mcp);
    for (const name of ['transfer', 'refund']) {
      flows.registerTool(name, { inputSchema: INPUT }, async (_args, flow) =>
        text((await transfer(flow)) ? 'Paid.' : 'Nothing was paid.'),
      );
    }
    flows.registerPrompt('transfer', { argsSchema: INPUT }, async (_args, flow) => ({
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: (await transfer(flow)) ? 'Paid.' : 'Nothing was paid.' },
        },
      ],
    }));
    mcp.registerTool('count', {}, () => text(String(effects)));
    return mcp;
  });
  return serveWithUsers(handler);
}
