import {
  Client,
  InMemoryTransport,
  type ClientCapabilities,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, expect } from 'vitest';
import { Parley, type Flows } from '../../src/index.js';
import { TEST_KEY } from '../gate/wire-harness.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Runs when the test is over, last one first. */
export function cleanUp(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

export interface Connection2025 {
  readonly client: Client;
  readonly mcp: McpServer;
  /** What the client sent, in order. */
  readonly received: JSONRPCMessage[];
}

/** A connection of 2025-11-25, on which servers ask with requests of their own. */
export async function connect2025(
  setup: (mcp: McpServer, flows: Flows) => void,
  capabilities: ClientCapabilities = { elicitation: { form: {} } },
): Promise<Connection2025> {
  const parley = new Parley({ keys: TEST_KEY, logger: { warn: () => undefined } });
  const mcp = new McpServer({ name: 'wire-test', version: '1.0.0' });
  setup(mcp, parley.attach(mcp));
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  const received = await connectPair(client, mcp);
  cleanUp(() => mcp.close());
  cleanUp(() => client.close());
  expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
  return { client, mcp, received };
}

/** Connects both, anew if need be, and gives what the client sends from then on. */
export async function connectPair(client: Client, mcp: McpServer): Promise<JSONRPCMessage[]> {
  const [a, b] = InMemoryTransport.createLinkedPair();
  await mcp.connect(a);
  const received: JSONRPCMessage[] = [];
  const { onmessage } = a;
  const seen: Transport['onmessage'] = (message, extra) => {
    received.push(message);
    onmessage?.(message, extra);
  };
  Object.assign(a, { onmessage: seen });
  await client.connect(b);
  return received;
}

/** A form that asks for one text, as servers of 2025-11-25 write it. */
export const TEXT = { type: 'object', properties: { text: { type: 'string' } } } as const;

/** Something that a test waits for, and something that it opens. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => void (open = resolve));
  return { opened, open };
}
