/**
 * The fixture server that the official suite is pointed at: `main.ts <entry>`, which is `sdk` or `pooled`. Prints
 * `listening <url>` once it can be called, and ends when its standard input does, so that it never outlives the
 * runner that started it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler, InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { generateKey, Parley } from 'mcp-parley';
import { createPooledHandler } from 'mcp-parley/http';
import { memoryTasks } from 'mcp-parley/tasks';
import { fixtureServer } from './fixture-server.js';
import { Lists } from './lists.js';

const parley = new Parley({ keys: generateKey(), tasks: memoryTasks() });
const bus = new InMemoryServerEventBus();
const lists = new Lists(bus);

const factory = () => fixtureServer(parley, lists);
const onerror = ({ message }: Error): void => console.error(`mcp: ${message}`);

/** What serves a request, by entry. */
const entries: Readonly<
  Record<string, () => (request: IncomingMessage, response: ServerResponse) => Promise<void>>
> = {
  sdk: () => toNodeHandler(createMcpHandler(factory, { bus, onerror }), { onerror }),
  pooled: () => createPooledHandler(factory, { bus, onerror }),
};

const entry = process.argv[2] ?? 'sdk';
const serve = entries[entry];
if (serve === undefined) {
  console.error(`No entry is called ${entry}: sdk or pooled.`);
  process.exit(2);
}
const mcp = serve();

// A page in a browser can reach a server on this machine under a name of its own (DNS rebinding): Host and
// Origin say so, and each guard has answered the request when it gives false.
const hostAllowed = localhostHostValidation();
const originAllowed = localhostOriginValidation();

const http = createServer((request, response) => {
  if (!hostAllowed(request, response) || !originAllowed(request, response)) return;
  if (request.url !== '/mcp') {
    response.writeHead(404).end();
    return;
  }
  void mcp(request, response);
});

http.listen(0, '127.0.0.1', () => {
  const { port } = http.address() as AddressInfo;
  console.log(`listening http://127.0.0.1:${port}/mcp`);
});

process.stdin.on('end', () => process.exit(0)).resume();
