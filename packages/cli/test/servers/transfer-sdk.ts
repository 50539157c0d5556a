import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  McpServer,
  ProtocolError,
  type ElicitRequestFormParams,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { digestOf } from './harness/state.js';
import { TRANSFER } from './harness/forms.js';
import type { Loopback } from './http.js';
import { INPUT, PAYMENT, REASON, serveWithUsers, text } from './transfers.js';

const CONTENTS = { payment: PAYMENT, reason: REASON, confirm: z.object({ confirmed: z.boolean() }) } as const;
const KEYS = ['payment', 'reason', 'confirm'] as const;

interface State {
  readonly flow: string;
  readonly round: number;
  readonly tool?: string;
  readonly digest?: string;
}

/**
 * Tool `transfer` with the SDK's own codec. `full` binds what there is to bind: method and user in the codec, and,
 * since a `ctx` holds neither name nor arguments, those in the payload; and it ends a flow once. Without it, the codec
 * is used as its documentation begins: a key, and nothing bound.
 */
export function startSdk({ full }: { readonly full: boolean }): Promise<Loopback> {
  const bind = (ctx: ServerContext): string =>
    JSON.stringify([
      ctx.mcpReq.method,
      ctx.http?.authInfo?.extra?.['iss'],
      ctx.http?.authInfo?.extra?.['sub'],
    ]);
  const codec = createRequestStateCodec<State>({ key: randomBytes(32), ...(full && { bind }) });
  const spent = new Set<string>();
  let effects = 0;

  async function round(tool: string, args: unknown, ctx: ServerContext) {
    const here = full ? { tool, digest: digestOf(args) } : {};
    const given = ctx.mcpReq.requestState<State>();
    const state = given ?? { flow: crypto.randomUUID(), round: 0, ...here };
    if (full && (state.tool !== tool || state.digest !== here.digest || spent.has(state.flow)))
      throw new ProtocolError(-32_602, 'Invalid or expired requestState', {
        reason: 'invalid_request_state',
      });
    if (!given) return ask(state, ctx);
    const key = KEYS[state.round] ?? 'confirm';
    const answers = full ? withoutPrototype(ctx.mcpReq.inputResponses) : ctx.mcpReq.inputResponses;
    const view = inputResponse(answers, key);
    if (view.kind === 'elicit' && view.action !== 'accept')
      return { ...text('Nothing was paid.'), isError: true };
    const content: unknown = acceptedContent(answers, key, CONTENTS[key]);
    if (content === undefined) return ask(state, ctx);
    if (state.round + 1 < KEYS.length) return ask({ ...state, round: state.round + 1 }, ctx);
    if (full) spent.add(state.flow);
    effects += 1;
    return text('Paid.');
  }

  async function ask(state: State, ctx: ServerContext) {
    const [key = '', asked] = TRANSFER[state.round] ?? [];
    return inputRequired({
      inputRequests: { [key]: inputRequired.elicit(asked?.params as unknown as ElicitRequestFormParams) },
      requestState: await codec.mint(state, ctx),
    });
  }

  const handler = createMcpHandler(() => {
    const mcp = new McpServer(
      { name: 'bank', version: '1.0.0' },
      { requestState: { verify: (state, ctx) => codec.verify(state, ctx) } },
    );
    for (const name of ['transfer', 'refund'])
      mcp.registerTool(name, { inputSchema: INPUT }, (args, ctx) => round(name, args, ctx));
    mcp.registerTool('count', {}, () => text(String(effects)));
    return mcp;
  });
  return serveWithUsers(handler);
}

type Answers = ServerContext['mcpReq']['inputResponses'];

/** The SDK 2.4 lets `__proto__` in what a client sends become the prototype of the answers. */
function withoutPrototype(answers: Answers): Answers {
  return answers && Object.fromEntries(Object.entries(answers));
}
