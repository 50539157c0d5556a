import { McpServer, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { Agent, request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { serveHttp, type HttpServing, type ServeHttpOptions } from '../../src/http/index.js';
import { isLoopback } from '../../src/http/guard.js';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Lets a test hold the tool `wait`, and see how it ended. */
class Hold {
  release: () => void = () => {};
  aborted = false;
  readonly #begun: (() => void)[] = [];
  readonly begun = new Promise<void>((resolve) => this.#begun.push(resolve));

  async wait(signal: AbortSignal): Promise<void> {
    const stop = (): void => {
      this.aborted = true;
      this.release();
    };
    signal.addEventListener('abort', stop);
    const released = new Promise<void>((resolve) => (this.release = resolve));
    this.#begun.forEach((tell) => tell());
    await released;
    signal.removeEventListener('abort', stop);
  }
}

let serving: HttpServing | undefined;
let agent: Agent;

async function serve(options: ServeHttpOptions = {}, hold = new Hold()): Promise<Hold> {
  agent = new Agent({ keepAlive: true });
  serving = await serveHttp(() => {
    const mcp = new McpServer(
      { name: 'served', version: '1.0.0' },
      { capabilities: { tools: { listChanged: true } } },
    );
    mcp.registerTool('who', { inputSchema: z.object({}) }, (_, ctx) => ({
      content: [{ type: 'text', text: ctx.http?.authInfo?.clientId ?? 'nobody' }],
    }));
    mcp.registerTool('wait', { inputSchema: z.object({}) }, async (_, ctx) => {
      await hold.wait(ctx.mcpReq.signal);
      return { content: [{ type: 'text', text: 'waited' }] };
    });
    return mcp;
  }, options);
  return hold;
}

afterEach(async () => {
  await serving?.close();
  serving = undefined;
  agent.destroy();
});

function port(): number {
  return serving?.port ?? 0;
}

function open(options: RequestOptions, body: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { agent, host: '127.0.0.1', port: port(), path: '/mcp', ...options },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject).end(body);
  });
}

function call(
  tool: string,
  headers: Record<string, string> = {},
  options: RequestOptions = {},
): Promise<Reply> {
  const params = { name: tool, arguments: {}, _meta: META };
  return post('tools/call', params, { 'Mcp-Name': tool, ...headers }, options);
}

function post(
  method: string,
  params: object,
  headers: Record<string, string> = {},
  options: RequestOptions = {},
): Promise<Reply> {
  return open(
    {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        ...headers,
      },
      ...options,
    },
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  );
}

describe('serveHttp', () => {
  it('serves on loopback under the path that its url says', async () => {
    await serve();
    expect(serving?.url).toBe(`http://127.0.0.1:${port()}/mcp`);
    for (let request = 0; request < 3; request += 1) expect((await call('who')).text).toContain('nobody');
  });

  it('answers 404 with the right path elsewhere, whatever the query', async () => {
    await serve({ path: '/tools' });
    expect(await call('who')).toMatchObject({
      status: 404,
      text: expect.stringContaining('/tools') as string,
    });
    expect((await call('who', {}, { path: '/tools?tenant=a' })).status).toBe(200);
  });

  it.each([
    ['a Host of elsewhere', { Host: 'evil.example' }],
    ['an Origin of elsewhere', { Origin: 'https://evil.example' }],
    ['an Origin that is null', { Origin: 'null' }],
  ])('refuses %s with 403 on loopback, also after good ones', async (_, headers) => {
    await serve();
    expect((await call('who')).status).toBe(200);
    const refused = await call('who', headers);
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.text)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_000 } });
    expect((await call('who', { Origin: `http://localhost:${port()}` })).status).toBe(200);
  });

  it('takes the names that it is told', async () => {
    await serve({ allowedHosts: ['mcp.example'], allowedOrigins: ['app.example'] });
    expect((await call('who', { Host: 'mcp.example' })).status).toBe(200);
    expect((await call('who', { Host: 'mcp.example', Origin: 'https://app.example' })).status).toBe(200);
    expect((await call('who')).status).toBe(403);
  });

  it('refuses a body over the limit with 413 in JSON-RPC', async () => {
    await serve({ maxRequestBodySize: 1_000 });
    const reply = await post('tools/call', { name: 'who', arguments: { a: 'x'.repeat(2_000) }, _meta: META });
    expect(reply.status).toBe(413);
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: -32_000 } });
  });

  it('lets in whom the verifier knows, and challenges all others', async () => {
    await serve({
      auth: {
        verifier: {
          verifyAccessToken: (token) => {
            if (!token.startsWith('good-'))
              throw new OAuthError(OAuthErrorCode.InvalidToken, 'No such token');
            const expiresAt = Date.now() / 1_000 + 60;
            return Promise.resolve({ token, clientId: token.slice(5), scopes: [], expiresAt });
          },
        },
      },
    });
    for (const bad of [{}, { Authorization: 'Bearer bad' }, { Authorization: 'Basic good-ann' }]) {
      const refused = await call('who', bad as Record<string, string>);
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toContain('invalid_token');
    }
    for (const who of ['ann', 'bob', 'ann'])
      expect((await call('who', { Authorization: `Bearer good-${who}` })).text).toContain(`"${who}"`);
  });

  it('rejects for a port that is taken, and for settings that are none', async () => {
    await serve();
    await expect(
      serveHttp(() => new McpServer({ name: 'a', version: '1' }), { port: port() }),
    ).rejects.toThrow(/EADDRINUSE/);
    const factory = () => new McpServer({ name: 'a', version: '1' });
    await expect(serveHttp(factory, { path: 'mcp' })).rejects.toThrow(/path must begin/);
    // A query, a space, a step back: no request has such a path.
    for (const path of ['/mcp?x=1', '/m c', '/a/../mcp', '/mcp#a'])
      await expect(serveHttp(factory, { path })).rejects.toThrow(/path must be written as clients send it/);
    // A timer that is set to more ends at once.
    for (const drainMs of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])
      await expect(serveHttp(factory, { drainMs })).rejects.toThrow(/drainMs/);
    await expect(serveHttp(factory, { maxIdle: 1.5 })).rejects.toThrow(/maxIdle/);
  });

  it('lets a request end while it stops, takes no new ones, and is stopped once that is over', async () => {
    const hold = await serve();
    await call('who');
    const waiting = call('wait');
    await hold.begun;
    const stopped = serving?.close();
    await expect(call('who', {}, { agent: new Agent() })).rejects.toThrow(/ECONNREFUSED/);
    hold.release();
    const reply = await waiting;
    expect(reply.text).toContain('waited');
    expect(reply.headers.connection).toBe('close');
    await stopped;
    expect(hold.aborted).toBe(false);
  });

  it('does not wait for responses that were never sent because their client went away', async () => {
    const hold = await serve({ drainMs: 60_000 });
    await call('who');
    const socket = connect(port(), '127.0.0.1');
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'wait', _meta: META },
    });
    const one =
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      'MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    // Two at once on one connection: the second response waits for the first.
    socket.write(one + one);
    await hold.begun;
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await serving?.close();
    expect(hold.aborted).toBe(true);
  });

  it('is not ended by an onerror that throws', async () => {
    const onerror = (): void => {
      throw new Error('onerror throws');
    };
    const auth: ServeHttpOptions['auth'] = {
      verifier: { verifyAccessToken: async () => Promise.reject(new Error('password of the database')) },
    };
    await serve({ onerror, auth });
    const reply = await call('who', { Authorization: 'Bearer any' });
    expect(reply.status).toBe(500);
    expect(reply.text).not.toContain('password');
  });

  it.each(['::1', '[::1]', '127.0.0.5', 'localhost'])(
    'answers at the address it gives, on %s',
    async (host) => {
      await serve({ host });
      const { hostname, host: authority } = new URL(serving?.url ?? '');
      const reply = await call('who', { Host: authority }, { host: hostname.replaceAll(/[[\]]/g, '') });
      expect(reply.status).toBe(200);
    },
  );

  it('aborts what is not over in time', async () => {
    const hold = await serve({ drainMs: 20 });
    for (const warm of ['who', 'who']) await call(warm);
    const waiting = call('wait').catch(() => 'cut off');
    await hold.begun;
    await serving?.close();
    await waiting;
    expect(hold.aborted).toBe(true);
  });

  it('ends subscriptions without waiting for them, and idle connections at once', async () => {
    await serve({ drainMs: 60_000 });
    await call('who');
    const params = { notifications: { toolsListChanged: true }, _meta: META };
    const listening = post('subscriptions/listen', params);
    await new Promise((resolve) => setImmediate(resolve));
    await call('who');
    await serving?.close();
    expect((await listening).text).toContain('notifications/subscriptions/acknowledged');
  });

  it('closes once, however often it is asked', async () => {
    await serve();
    expect(serving?.close()).toBe(serving?.close());
    await serving?.close();
    await expect(call('who')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('knows which addresses are of this machine only', () => {
    expect(['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]'].every(isLoopback)).toBe(true);
    expect(['0.0.0.0', '::', '10.0.0.1', '127.evil.example', 'localhost.example'].some(isLoopback)).toBe(
      false,
    );
  });
});
