/**
 * A round-robin load balancer: every request goes to the next server, whatever call it belongs to. There are
 * no sticky sessions, and nothing here knows of MCP.
 */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Names the server that answered, by its port. */
export const SERVED_BY = 'x-served-by';

export interface Proxy {
  readonly port: number;
  readonly close: () => void;
}

/** Listens on a free port of the loopback interface, in front of the servers on these ports. */
export async function startProxy(ports: readonly number[]): Promise<Proxy> {
  let turn = 0;
  const next = (): number => ports[turn++ % ports.length] ?? 0;
  const server = createServer((incoming, outgoing) => void relay(incoming, outgoing, ports.length, next));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function relay(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  attempts: number,
  next: () => number,
): Promise<void> {
  try {
    const body = await buffer(incoming);
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const port = next();
      const answer = await forward(port, incoming, body);
      if (answer === 'down') continue;
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, [SERVED_BY]: String(port) });
      answer.on('error', () => outgoing.destroy()).pipe(outgoing);
      return;
    }
  } catch {
    // A server that died with a request in its hands may have done the work: that request is not sent again.
  }
  outgoing.writeHead(502).end();
}

/** Sends a request on. `down`: no connection came about, so no server has seen it. */
async function forward(port: number, { method, url, headers }: IncomingMessage, body: Buffer) {
  return new Promise<IncomingMessage | 'down'>((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, resolve)
      .once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') resolve('down');
        else reject(error);
      })
      .end(body);
  });
}
