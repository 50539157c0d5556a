/** What the processes of the host are configured with. They share the folder of the queue, and nothing else. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ServerIdentity } from 'mcp-parley/client';
import { Queue } from './queue.js';

const { QUEUE = './queue', SERVER_URL = '', TOKEN = '' } = process.env;

/**
 * The server that this host works with, and as whom. A saved call of any other is refused. It comes from here and not
 * from the saved call: who could write to the queue could otherwise have the token sent to a server of theirs.
 */
export const server: ServerIdentity = { url: SERVER_URL, principal: 'ann' };

export const openQueue = (): Promise<Queue> => Queue.open(QUEUE);

/** Connects as the principal: with a token of today, that is not saved anywhere. */
export async function connect(): Promise<Client> {
  const client = new Client(
    { name: 'expenses-host', version: '1.0.0' },
    { versionNegotiation: { mode: 'auto' }, inputRequired: { autoFulfill: false } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(SERVER_URL), { authProvider: { token: async () => TOKEN } }),
  );
  return client;
}
