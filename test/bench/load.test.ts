import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { runLoad, type Exchange } from '../../bench/harness/load.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It does not listen on a port.');
  return address.port;
}

/** A tool of two rounds whose states count; keeps the bodies that it was sent. */
function tool(bodies: string[], chunked: boolean): RequestListener {
  let made = 0;
  return (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(body);
      made += 1;
      const result = body === 'first' ? { requestState: `ä-${made}` } : { content: [] };
      const text = JSON.stringify({ result });
      if (chunked) {
        response.write(text.slice(0, 5));
        response.end(text.slice(5));
      } else {
        response.setHeader('Content-Length', Buffer.byteLength(text));
        response.end(text);
      }
    });
  };
}

const SCRIPT: readonly Exchange[] = [
  { body: 'first', gives: 'state' },
  { body: (state) => `second with ${state}`, gives: 'end' },
];

describe('runLoad', () => {
  it.each([
    ['with a length', false],
    ['in chunks', true],
  ])('plays whole scripts, each state in the request after it (responses %s)', async (_, chunked) => {
    const bodies: string[] = [];
    const port = await listen(tool(bodies, chunked));
    const found = await runLoad({ port, headers: {}, script: SCRIPT, connections: 4, requests: 17 });
    expect(found.requests).toBe(24); // four connections, three whole scripts each
    expect(bodies).toHaveLength(24);
    const states = bodies.filter((body) => body !== 'first');
    expect(states.every((body) => /^second with ä-\d+$/.test(body))).toBe(true);
    expect(new Set(states).size).toBe(12); // each state was used once
  });

  it('tells times that fit together', async () => {
    const port = await listen(tool([], false));
    const { micros, p50, p99 } = await runLoad({
      port,
      headers: {},
      script: SCRIPT,
      connections: 2,
      requests: 40,
    });
    expect(p50).toBeGreaterThan(0);
    expect(p99).toBeGreaterThanOrEqual(p50);
    expect(micros).toBeGreaterThan(p99);
  });

  it.each([
    ['has another status', 500, '{"result":{"requestState":"a"}}'],
    ['gives no state', 200, '{"result":{"content":[]}}'],
    ['is an error', 200, '{"error":{"code":-32602,"message":"No."}}'],
    ['is no JSON', 200, 'oops'],
  ])('fails when a response %s: its time would mean nothing', async (_, status, text) => {
    const port = await listen((request, response) => {
      request.resume();
      response.statusCode = status;
      response.end(text);
    });
    const load = runLoad({ port, headers: {}, script: SCRIPT.slice(0, 1), connections: 1, requests: 3 });
    await expect(load).rejects.toThrow(`3 of 3 responses were not what they must be: HTTP ${status} ${text}`);
  });

  it('fails when nothing listens', async () => {
    const port = await listen(() => undefined);
    const [server] = servers.splice(0);
    await new Promise((resolve) => server?.close(resolve));
    await expect(runLoad({ port, headers: {}, script: SCRIPT, connections: 1, requests: 2 })).rejects.toThrow(
      /connect/i,
    );
  });
});
