import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  type CallToolResult,
  type InputRequiredResult,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { go, HOW, outcome, WHERE, type Plan } from './deploy.js';

const Where = z.object({ region: z.string() });
const How = z.object({ replicas: z.int(), strategy: z.string() });
const Go = z.object({ confirm: z.boolean() });

/**
 * The demo's `deploy` as one writes it with the official SDK alone, in the style of its examples: a state machine over
 * `inputRequired(...)`, and the SDK's codec for what it must remember. Nothing of Parley is in it.
 */
export function deployByHand(): McpHttpHandler {
  const codec = createRequestStateCodec<{ readonly plan: Plan }>({
    key: crypto.getRandomValues(new Uint8Array(32)),
    bind: (ctx) => ctx.mcpReq.method,
  });
  return createMcpHandler(() => {
    const mcp = new McpServer(
      { name: 'releases-by-hand', version: '1.0.0' },
      { requestState: { verify: (state, ctx) => codec.verify(state, ctx) } },
    );
    mcp.registerTool(
      'deploy',
      { inputSchema: z.object({ service: z.string(), environment: z.string() }) },
      async (target, ctx): Promise<CallToolResult | InputRequiredResult> => {
        const { inputResponses } = ctx.mcpReq;
        const known = ctx.mcpReq.requestState<{ readonly plan: Plan }>();
        if (known !== undefined) {
          const sure = acceptedContent(inputResponses, 'go', Go);
          return outcome(known.plan, sure?.confirm === true);
        }
        const where = acceptedContent(inputResponses, 'where', Where);
        const how = acceptedContent(inputResponses, 'how', How);
        if (where === undefined || how === undefined) {
          return inputRequired({
            inputRequests: { where: inputRequired.elicit(WHERE), how: inputRequired.elicit(HOW) },
          });
        }
        const plan = { ...target, ...where, ...how };
        return inputRequired({
          inputRequests: { go: inputRequired.elicit(go(plan)) },
          requestState: await codec.mint({ plan }, ctx),
        });
      },
    );
    return mcp;
  });
}
