import { Client, StreamableHTTPClientTransport, type ClientCapabilities } from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { inspect } from 'node:util';
import type { Clock, DriveOptions, FormQuestion, Handlers } from '../../src/client/index.js';
import { Parley, type Flows } from '../../src/index.js';
import { TEST_KEY } from '../gate/wire-harness.js';

export const URL_OF_SERVER = 'http://127.0.0.1/mcp';

/** What a request of a call carried. */
export interface Sent {
  readonly id: unknown;
  readonly method: string;
  readonly params: Record<string, unknown> & {
    readonly taskId?: string;
    readonly requestState?: string;
    readonly inputResponses?: Record<string, unknown>;
    readonly _meta?: Record<string, unknown>;
  };
  readonly headers: Headers;
}

/** What a script gives for a request that the server itself should see. */
export const PASS = Symbol('pass');

/** What a scripted server answers to the nth request of a call, from 1: a result, an error, or a response of HTTP. */
export type Script = (request: Sent, nth: number, signal: AbortSignal | undefined) => unknown;

export interface Connection {
  readonly client: Client;
  /** Every request of a driven method, or about a task, in order. */
  readonly sent: Sent[];
}

const DRIVEN = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

/** How a client says that it takes tasks. */
export const TASKS = { 'io.modelcontextprotocol/tasks': {} };

export interface ConnectOptions {
  readonly mode?: 'modern' | 'legacy';
  readonly capabilities?: ClientCapabilities;
  /** Whether the client answers by itself what is asked, where it is let. Default false. */
  readonly autoFulfill?: boolean;
}

/** A real client on a server of Parley's in this process. */
export async function connect(
  setup: (flows: Flows, mcp: McpServer) => void,
  script?: Script,
  options: ConnectOptions = {},
): Promise<Connection> {
  const parley = new Parley({ keys: TEST_KEY, logger: { warn: () => undefined } });
  const create = (): McpServer => {
    const mcp = new McpServer({ name: 'wire-test', version: '1.0.0' });
    setup(parley.attach(mcp), mcp);
    return mcp;
  };
  return connectTo(create, script, options);
}

/** A real client on any server in this process. What the script answers, the server does not see. */
export async function connectTo(
  create: () => McpServer,
  script?: Script,
  options: ConnectOptions = {},
): Promise<Connection> {
  const handler = createMcpHandler(create);
  const sent: Sent[] = [];
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: options.capabilities ?? {},
      ...(options.mode !== 'legacy' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
      inputRequired: { autoFulfill: options.autoFulfill ?? false },
    },
  );
  const transport = new StreamableHTTPClientTransport(new URL(URL_OF_SERVER), {
    fetch: async (input, init) => {
      const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as Sent) : undefined;
      if (body !== undefined && DRIVEN.has(body.method)) {
        const request = { ...body, headers: new Headers(init?.headers) };
        sent.push(request);
        if (script !== undefined) {
          const answer = await script(request, sent.length, init?.signal ?? undefined);
          if (answer === PASS) return handler.fetch(new Request(input, init));
          if (answer instanceof Response) return answer;
          const isError = typeof answer === 'object' && answer !== null && 'code' in answer;
          const member = isError ? { error: answer } : { result: answer };
          return new Response(JSON.stringify({ jsonrpc: '2.0', id: body.id, ...member }), {
            headers: { 'Content-Type': 'application/json' },
          });
        }
      }
      return handler.fetch(new Request(input, init));
    },
  });
  await client.connect(transport);
  return { client, sent };
}

/** A server that is all script. */
export function scripted(script: Script): Promise<Connection> {
  return connect((_flows, mcp) => void mcp.registerTool('t', {}, () => ({ content: [] })), script);
}

/** A form that asks for one text. */
export function textForm(message = 'Name?'): { method: string; params: Record<string, unknown> } {
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message,
      requestedSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  };
}

/** An interim result as it stands on the wire. */
export function interim(members: Record<string, unknown>): Record<string, unknown> {
  return { resultType: 'input_required', ...members };
}

/** A final result as it stands on the wire. */
export function done(text = 'done'): Record<string, unknown> {
  return { resultType: 'complete', content: [{ type: 'text', text }] };
}

/**
 * A clock that jumps: a pause of up to `jumpMs` is written down and over at once. What is longer is a deadline or a
 * time-out, which is over when the pauses have come to it, or by `advance`.
 */
export function testClock(jumpMs = 5000): Clock & { readonly slept: number[]; advance(ms: number): void } {
  let time = 1_000_000;
  const waiting: { readonly at: number; readonly wake: () => void }[] = [];
  const slept: number[] = [];
  const advance = (ms: number): void => {
    time += ms;
    for (const { wake } of waiting.filter(({ at }) => at <= time)) wake();
  };
  return {
    slept,
    now: () => time,
    advance,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', onAbort, { once: true });
        const wake = (): void => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        if (ms <= jumpMs) {
          slept.push(ms);
          advance(ms);
          setImmediate(wake);
        } else {
          waiting.push({ at: time + ms, wake });
        }
      }),
  };
}

/** Handlers that give every text field the text `x`, and write down what they were asked. */
export function filling(asked: FormQuestion[] = []): Handlers {
  return {
    form: (question) => {
      asked.push(question);
      return { action: 'accept', content: { text: 'x' } };
    },
  };
}

/** The options that most tests use. */
export function optionsWith(options: Partial<DriveOptions> = {}): DriveOptions {
  return { server: { url: URL_OF_SERVER }, handlers: filling(), clock: testClock(), ...options };
}

export const CALL = { method: 'tools/call', params: { name: 't', arguments: { a: 1 } } } as const;

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: unknown }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** All that a log could show of an error. */
export function printed(error: unknown): string {
  const chain: unknown[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    chain.push(each.message, each.stack, Object.fromEntries(Object.entries(each)));
  }
  return [
    inspect(error, { depth: 20, showHidden: true, maxStringLength: null, maxArrayLength: null }),
    JSON.stringify(error),
    String(error),
    JSON.stringify(chain),
  ].join('\n');
}
