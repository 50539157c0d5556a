import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFields, type Fields } from './forms.js';
import { failed, type Incoming, type Reply, type World } from './parts.js';

/** A server under audit, on loopback. */
export interface AuditedServer {
  readonly url: string;
  readonly world: World;
  close(): Promise<void>;
}

/** Serves JSON-RPC by POST on a free port of loopback. */
export async function listen(
  limit: number,
  world: World,
  reply: (request: Incoming) => Reply,
): Promise<AuditedServer> {
  const http = createServer((request, response) => void serve(request, response, limit, reply));
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    world,
    close: () => {
      http.closeAllConnections();
      return new Promise((resolve) => void http.close(() => resolve()));
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  reply: (request: Incoming) => Reply,
): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
  }
  if (size > limit) return void response.writeHead(413).end();
  if (request.method !== 'POST') return void response.writeHead(405).end();
  let id: unknown;
  let made: Reply;
  try {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Fields;
    id = body['id'];
    if (id === undefined) return void response.writeHead(202).end();
    const params = isFields(body['params']) ? body['params'] : {};
    const user = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? null;
    made = reply({ id, method: String(body['method']), params, headers: request.headers, user });
  } catch {
    made = failed(-32_603, 'Internal error', 500);
  }
  if (made.isDropped) return void response.destroy();
  const { status = 200, before = [], retryAfter, ...rest } = made;
  if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter);
  const messages = [...before, { jsonrpc: '2.0', id: id ?? null, ...rest }].map((message) =>
    JSON.stringify(message),
  );
  if (before.length === 0) {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(messages[0]);
  } else {
    response.writeHead(status, { 'Content-Type': 'text/event-stream' });
    response.end(messages.map((message) => `data: ${message}\n\n`).join(''));
  }
}
