import { createMcpHandler, McpServer, type AuthInfo } from '@modelcontextprotocol/server';
import { Parley, type Flows, type ParleyEvents, type ParleyOptions } from '../../src/index.js';

/** What a request may carry beyond its method and target. */
export interface Extra {
  readonly arguments?: unknown;
  readonly inputResponses?: unknown;
  readonly requestState?: unknown;
  readonly capabilities?: Record<string, unknown>;
  readonly auth?: AuthInfo;
  readonly meta?: Record<string, unknown>;
}

/** A JSON-RPC answer as it came over HTTP. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly result?: {
    readonly resultType?: string;
    readonly requestState?: string;
    readonly inputRequests?: Record<
      string,
      { readonly method: string; readonly params: Record<string, unknown> }
    >;
    readonly content?: readonly { readonly text: string }[];
    readonly messages?: readonly unknown[];
    readonly contents?: readonly unknown[];
    readonly isError?: boolean;
  };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Record<string, unknown>;
  };
}

/** One instance of a server behind `createMcpHandler`, called with raw HTTP requests in memory. */
export interface Instance {
  readonly parley: Parley;
  readonly warnings: string[];
  readonly rejections: string[];
  readonly events: { readonly name: keyof ParleyEvents; readonly event: unknown }[];
  call(
    method: 'tools/call' | 'prompts/get' | 'resources/read',
    target: string,
    extra?: Extra,
  ): Promise<Answer>;
}

/** A key for tests only. */
export const TEST_KEY = 'parley_key_Zk3vQm8xL1rT5yWc2hNb7uJd9aEo4gPs6iKfXtB0RzY';

const EVENTS = ['opened', 'rejected', 'sealed', 'suspended', 'completed', 'keyUsed', 'repeated'] as const;

/** Makes an instance. `setup` is the factory's body: it runs for each request. */
export function instance(
  setup: (flows: Flows, mcp: McpServer) => void,
  options: ParleyOptions & { readonly name?: string } = {},
): Instance {
  const warnings: string[] = [];
  const { name = 'wire-test', ...rest } = options;
  const parley = new Parley({
    keys: TEST_KEY,
    logger: { warn: (message) => void warnings.push(message) },
    ...rest,
  });
  const rejections: string[] = [];
  const events: Instance['events'] = [];
  parley.on('rejected', ({ reason }) => void rejections.push(reason));
  for (const event of EVENTS) parley.on(event, (data) => void events.push({ name: event, event: data }));
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name, version: '1.0.0' });
    setup(parley.attach(mcp), mcp);
    return mcp;
  });
  let id = 0;
  return {
    parley,
    warnings,
    rejections,
    events,
    async call(method, target, extra = {}) {
      const { auth, capabilities, meta, ...members } = extra;
      id += 1;
      const params = {
        [method === 'resources/read' ? 'uri' : 'name']: target,
        ...(method === 'tools/call' && { arguments: {} }),
        ...members,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': capabilities ?? {
            elicitation: { form: {}, url: {} },
            sampling: {},
            roots: {},
          },
          ...meta,
        },
      };
      const request = new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': '2026-07-28',
          'Mcp-Method': method,
          'Mcp-Name': target,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      });
      const response = await handler.fetch(request, auth === undefined ? {} : { authInfo: auth });
      const text = await response.text();
      return { status: response.status, text, ...(JSON.parse(text) as object) };
    },
  };
}

/** An answer that accepts a form. */
export function accept(content: Record<string, unknown>): {
  action: 'accept';
  content: Record<string, unknown>;
} {
  return { action: 'accept', content };
}

/** The state of an answer that asked something. */
export function stateOf(answer: Answer): string {
  const state = answer.result?.requestState;
  if (state === undefined) throw new Error(`no state in ${answer.text}`);
  return state;
}

/** The text of a tool's result. */
export function textOf(answer: Answer): string | undefined {
  return answer.result?.content?.[0]?.text;
}
