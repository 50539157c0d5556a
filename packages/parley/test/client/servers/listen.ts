import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on a free port of loopback. */
export interface Loopback {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens, and serves `/mcp` and whatever else is asked for with one function. */
export async function listen(
  serve: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Loopback> {
  const http = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: () => {
      http.closeAllConnections();
      return new Promise<void>((resolve) => void http.close(() => resolve()));
    },
  };
}
