import { request as open, type ClientRequest } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, type McpRequestContext } from '@modelcontextprotocol/server';
import { createPooledHandler, type PooledHandler, type PooledHandlerOptions } from '../../src/http/index.js';
import { draft, finish } from './faults.js';
import { loopback, type Loopback, type RawResponse } from './raw-request.js';

/** Registers what a server has; `made` counts from 1. */
export type Setup = (mcp: McpServer, made: number, context: McpRequestContext) => void;

/** A server, and a client that calls its tools. */
export interface TestServer {
  readonly port: number;
  /** How many instances the factory made. */
  readonly made: () => number;
  /** Calls a tool and gives the text of its result. */
  readonly tool: (name: string, more?: CallOptions) => Promise<string>;
  /** The same with the whole response. */
  readonly send: (name: string, more?: CallOptions) => Promise<RawResponse>;
  /** Calls a tool without waiting. To be hung up by `destroy()`. */
  readonly begin: (name: string, more?: CallOptions) => ClientRequest;
  close(): Promise<void>;
}

/** What a call may have. */
export interface CallOptions {
  readonly args?: Record<string, unknown>;
  readonly user?: string;
  readonly id?: string;
}

/** The text that a tool's result consists of. */
export function text(value: unknown) {
  return { content: [{ type: 'text' as const, text: String(value) }] };
}

/** Serves with the pooled entry. */
export async function pooledServer(
  setup: Setup,
  options?: PooledHandlerOptions,
): Promise<TestServer & { readonly handler: PooledHandler }> {
  const { factory, made } = counted(setup);
  const handler = createPooledHandler(factory, options);
  return { ...client(await loopback(handler), made), handler };
}

/** Serves with the SDK's entry, to compare with. */
export async function sdkServer(setup: Setup, options?: PooledHandlerOptions): Promise<TestServer> {
  const { factory, made } = counted(setup);
  return client(await loopback(toNodeHandler(createMcpHandler(factory, options))), made);
}

function counted(setup: Setup) {
  let count = 0;
  const factory = (context: McpRequestContext): McpServer => {
    count += 1;
    const mcp = new McpServer({ name: 'test', version: '1.0.0' }, { capabilities: { logging: {} } });
    setup(mcp, count, context);
    return mcp;
  };
  return { factory, made: () => count };
}

function client(server: Loopback, made: () => number): TestServer {
  const requestOf = (name: string, { args = {}, user, id }: CallOptions = {}) => {
    const params = { name, arguments: args };
    const made = draft({ method: 'tools/call', params, pooled: true });
    if (user !== undefined) made.headers.push(['X-User', user]);
    if (id !== undefined) made.json = { ...(made.json as object), id };
    return finish(made);
  };
  const send: TestServer['send'] = (name, more) => server.send(requestOf(name, more));
  return {
    port: server.port,
    made,
    send,
    tool: async (name, more) => textOf(await send(name, more)),
    begin(name, more) {
      const { method, path, headers, body } = requestOf(name, more);
      const length = ['Content-Length', String(body?.length)];
      const request = open({
        host: '127.0.0.1',
        port: server.port,
        method,
        path,
        headers: [...headers.flat(), ...length],
      });
      // A test hangs up, and then this is what it wants.
      request.on('error', () => {});
      request.end(body);
      return request;
    },
    close: () => server.close(),
  };
}

function textOf({ body }: RawResponse): string {
  const { result } = body as { readonly result?: { readonly content: readonly { readonly text: string }[] } };
  if (result === undefined) throw new Error(`No result: ${JSON.stringify(body)}`);
  return result.content.map(({ text }) => text).join('');
}

/** A promise that somebody else settles. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
