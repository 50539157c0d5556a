import { connect } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, type CreateMcpHandlerOptions } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPooledHandler } from '../../src/http/index.js';
import { draft, finish } from './faults.js';
import { gate, pooledServer, sdkServer, text, type Setup, type TestServer } from './pooled-server.js';
import { loopback } from './raw-request.js';

const servers: TestServer[] = [];

async function pooled(setup: Setup, options?: CreateMcpHandlerOptions): Promise<TestServer> {
  const server = await pooledServer(setup, options);
  servers.push(server);
  return server;
}

async function bySdk(setup: Setup, options?: CreateMcpHandlerOptions): Promise<TestServer> {
  const server = await sdkServer(setup, options);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** What a client hanging up does to a handler. */
async function hangUp(serve: (setup: Setup) => Promise<TestServer>) {
  const entered = gate();
  const aborted = gate();
  const seen = { reason: undefined as unknown, httpAborted: false };
  const server = await serve((mcp, made) => {
    mcp.registerTool('which', {}, () => text(made));
    mcp.registerTool('hang', {}, async ({ mcpReq: { signal }, http }) => {
      const ofHttp = http?.req?.signal;
      signal.addEventListener('abort', () => {
        seen.reason = signal.reason;
        seen.httpAborted = ofHttp?.aborted === true;
        aborted.open();
      });
      entered.open();
      return new Promise(() => {});
    });
  });
  await server.tool('which');
  const request = server.begin('hang');
  await entered.opened;
  request.destroy();
  await aborted.opened;
  return { ...seen, server };
}

describe('a client that hangs up', () => {
  it('aborts its handler as under the SDK, with the same reason', async () => {
    const ours = await hangUp(pooled);
    const theirs = await hangUp(bySdk);
    expect(ours.reason).toMatchObject({ name: 'SdkError', code: 'CONNECTION_CLOSED' });
    expect(String(ours.reason)).toBe(String(theirs.reason));
    expect(ours.httpAborted).toBe(theirs.httpAborted);
  });

  it('costs its instance, and no other', async () => {
    const { server } = await hangUp(pooled);
    expect(await server.tool('which')).toBe('2');
    expect(await server.tool('which')).toBe('2');
    expect(server.made()).toBe(2);
  });

  it('in the middle of its body does not make the entry reject, and is reported', async () => {
    const onerror = vi.fn<(error: Error) => void>();
    const factory = () => new McpServer({ name: 'test', version: '1.0.0' });
    const handler = createPooledHandler(factory, { onerror });
    const arrived = gate();
    const server = await loopback((incoming, response) => {
      const done = handler(incoming, response);
      arrived.open();
      return done;
    });
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n' +
        'MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\r\n{"a',
    );
    await arrived.opened;
    socket.destroy();
    await vi.waitFor(() => expect(onerror).toHaveBeenCalledOnce());
    // This fails if the entry has rejected.
    await server.close();
  });

  it.each(['ours', 'the SDK'] as const)('before its handler is called is not served by %s', async (whose) => {
    let calls = 0;
    const factory = (): McpServer => {
      const mcp = new McpServer({ name: 'test', version: '1.0.0' });
      mcp.registerTool('count', {}, () => text((calls += 1)));
      return mcp;
    };
    const handler =
      whose === 'ours' ? createPooledHandler(factory) : toNodeHandler(createMcpHandler(factory));
    const request = draft({ method: 'tools/call', params: { name: 'count' }, pooled: true });
    const arrived = gate();
    const late = gate();
    const http = await loopback(async (incoming, response) => {
      if (incoming.url === '/late') {
        arrived.open();
        await new Promise((resolve) => response.once('close', resolve));
      }
      await handler(incoming, response, request.json);
      if (incoming.url === '/late') late.open();
    });
    await http.send(finish(request));
    await http.send(finish(request));
    const socket = connect(http.port, '127.0.0.1');
    const head = request.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`POST /late HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`);
    await arrived.opened;
    socket.destroy();
    await late.opened;
    expect(calls).toBe(2);
    await http.close();
  });
});

describe('a handler', () => {
  it('that hangs, throws or is slow holds up nobody else', async () => {
    const entered = gate();
    const server = await pooled((mcp) => {
      mcp.registerTool('hang', {}, () => {
        entered.open();
        return new Promise(() => {});
      });
      mcp.registerTool('throw', {}, () => {
        throw new Error('thrown');
      });
      mcp.registerTool('echo', {}, () => text('echo'));
    });
    await server.tool('echo');
    const hanging = server.begin('hang');
    await entered.opened;
    for (let at = 0; at < 5; at += 1) {
      expect(await server.tool('throw')).toBe('thrown');
      expect(await server.tool('echo')).toBe('echo');
    }
    expect(server.made()).toBe(2);
    hanging.destroy();
  });

  it('cannot notify once its request is over, neither its own client nor the next', async () => {
    const next = gate();
    const told = gate();
    let outcome: unknown;
    const server = await pooled((mcp) => {
      mcp.registerTool('echo', {}, () => text('echo'));
      mcp.registerTool('late', {}, ({ mcpReq }) => {
        const params = { progressToken: 'late', progress: 1 };
        void next.opened
          .then(() => mcpReq.notify({ method: 'notifications/progress', params }))
          .catch((error: unknown) => {
            outcome = error;
          })
          .finally(told.open);
        return text('over');
      });
      mcp.registerTool('next', {}, async () => {
        next.open();
        await told.opened;
        return text('alone');
      });
    });
    await server.tool('echo');
    // One after the other, so by the same instance; and in JSON, so nothing came before the result.
    expect(await server.tool('late')).toBe('over');
    const response = await server.send('next');
    expect(response.headers['content-type']).toBe('application/json');
    expect(outcome).toMatchObject({ code: 'NOT_CONNECTED' });
    expect(server.made()).toBe(1);
  });

  it('is told by its signal when its request is over, as under the SDK', async () => {
    const reasonAfter = async (server: TestServer, signals: AbortSignal[]): Promise<string[]> => {
      await server.tool('keep');
      await server.tool('keep');
      await vi.waitFor(() => expect(signals.every(({ aborted }) => aborted)).toBe(true));
      return signals.map(({ reason }) => String(reason));
    };
    const ours: AbortSignal[] = [];
    const theirs: AbortSignal[] = [];
    const keeping =
      (signals: AbortSignal[]): Setup =>
      (mcp) =>
        void mcp.registerTool('keep', {}, ({ mcpReq }) => {
          signals.push(mcpReq.signal);
          return text(mcpReq.signal.aborted);
        });
    const a = await reasonAfter(await pooled(keeping(ours)), ours);
    expect(a).toEqual(await reasonAfter(await bySdk(keeping(theirs)), theirs));
    expect(a).toHaveLength(2);
  });

  it('that sends a request to the client does not wait beyond its own request', async () => {
    const ended = gate();
    let outcome: unknown;
    const server = await pooled((mcp, made) => {
      mcp.registerTool('which', {}, () => text(made));
      mcp.registerTool('send', {}, ({ mcpReq }) => {
        const schema = {
          '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
        };
        void mcpReq
          .send({ method: 'acme/ask', params: {} }, schema as never)
          .catch((error: unknown) => {
            outcome = error;
          })
          .finally(ended.open);
        return text('sent');
      });
    });
    await server.tool('which');
    await server.send('send');
    await ended.opened;
    expect(outcome).toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(await server.tool('which')).toBe('2');
  });
});

describe('a stream', () => {
  const loud =
    (steps: () => Promise<unknown>): Setup =>
    (mcp) => {
      mcp.registerTool('echo', {}, () => text('echo'));
      mcp.registerTool('loud', {}, async ({ mcpReq }) => {
        const notify = (progress: number) =>
          mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 1, progress } });
        await notify(1);
        await steps();
        await notify(2);
        return text('end');
      });
    };

  it.each(['auto', 'json', 'sse'] as const)('is what the SDK makes it with responseMode %s', async (mode) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const options = { responseMode: mode };
    const ours = await pooled(
      loud(async () => {}),
      options,
    );
    const theirs = await bySdk(
      loud(async () => {}),
      options,
    );
    for (const tool of ['echo', 'loud', 'loud', 'echo']) {
      expect(await ours.send(tool)).toEqual(await theirs.send(tool));
    }
    warn.mockRestore();
  });

  it('is kept alive', async () => {
    const hold = gate();
    const server = await pooled(
      loud(() => hold.opened),
      { keepAliveMs: 5 },
    );
    await server.tool('echo');
    const request = server.begin('loud');
    const seen = await new Promise<string>((resolve) => {
      let body = '';
      request.on('response', (response) => {
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk;
          if (body.split(': keepalive\n\n').length > 3) hold.open();
        });
        response.on('end', () => resolve(body));
      });
    });
    expect(seen).toMatch(/^event: message\ndata: .*\n\n(: keepalive\n\n){3,}event: message\n/);
    expect(seen).toMatch(/"end".*\n\n$/);
    expect(server.made()).toBe(1);
  });

  it.each(['ends', 'hangs up'])('is not kept alive once the client %s', async (how) => {
    const every = 123_456;
    const set = vi.spyOn(globalThis, 'setInterval');
    const clear = vi.spyOn(globalThis, 'clearInterval');
    const hold = gate();
    const server = await pooled(
      loud(() => hold.opened),
      { keepAliveMs: every },
    );
    await server.tool('echo');
    const request = server.begin('loud');
    await new Promise((resolve) => request.on('response', (response) => response.once('data', resolve)));
    const at = set.mock.calls.findIndex(([, ms]) => ms === every);
    const timer: unknown = set.mock.results[at]?.value;
    expect(timer).toBeDefined();
    if (how === 'ends') hold.open();
    else request.destroy();
    await vi.waitFor(() => expect(clear.mock.calls.map(([cleared]) => cleared)).toContain(timer));
    request.destroy();
    hold.open();
    vi.restoreAllMocks();
  });
});
