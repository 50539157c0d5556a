import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Loopback } from './http.js';
import { INPUT, serveWithUsers, text } from './transfers.js';

const ANSWER = z.object({ name: z.string().max(40) });
const ASKED = {
  message: 'What is your name?',
  requestedSchema: {
    type: 'object' as const,
    properties: { name: { type: 'string' as const, maxLength: 40 } },
    required: ['name'],
  },
};

/** A tool that only greets: nothing hangs on its answer, so that it does without a state. */
export function startStateless(): Promise<Loopback> {
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'greeter', version: '1.0.0' });
    mcp.registerTool('transfer', { inputSchema: INPUT }, (_args, { mcpReq }) => {
      const answers = mcpReq.inputResponses && Object.fromEntries(Object.entries(mcpReq.inputResponses));
      const view = inputResponse(answers, 'name');
      if (view.kind === 'elicit' && view.action !== 'accept') return text('Good day.');
      const answer = acceptedContent(answers, 'name', ANSWER);
      if (answer) return text(`Good day, ${answer.name}.`);
      return inputRequired({ inputRequests: { name: inputRequired.elicit(ASKED) } });
    });
    mcp.registerTool('count', {}, () => text('0'));
    return mcp;
  });
  return serveWithUsers(handler);
}
