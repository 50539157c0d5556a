import { Client, type JSONRPCMessage } from '@modelcontextprotocol/client';
import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { PassThrough } from 'node:stream';
import { cleanUp } from '../legacy-harness.js';

export interface Piped {
  readonly client: Client;
  /** All that the client wrote, in order. */
  readonly written: () => JSONRPCMessage[];
  /** Writes to the client, past the server. */
  readonly inject: (message: object) => void;
}

/** A client of 2026-07-28 and a server on a pair of pipes, as with stdio. */
export async function connectPipes(create: () => McpServer): Promise<Piped> {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  toServer.on('data', (chunk: Buffer) => void lines.push(chunk.toString()));
  const serving = serveStdio(create, { transport: new StdioServerTransport(toServer, toClient) });
  cleanUp(() => serving.close());
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, inputRequired: { autoFulfill: false } },
  );
  cleanUp(() => client.close());
  await client.connect(new StdioServerTransport(toClient, toServer));
  return {
    client,
    written: () =>
      lines
        .join('')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as JSONRPCMessage),
    inject: (message) => void toClient.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
  };
}
