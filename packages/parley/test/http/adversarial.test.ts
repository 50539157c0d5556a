import { once } from 'node:events';
import { createServer as createHttp2Server, connect as connectHttp2 } from 'node:http2';
import { connect, type AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, type Transport } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPooledHandler } from '../../src/http/index.js';
import { draft, finish } from './faults.js';
import { gate, pooledServer, text, type Setup } from './pooled-server.js';
import { loopback, type RawRequest } from './raw-request.js';

/* What would break the pool? Each of these did, or would if a line of src/http were gone. */

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function pooled(...args: Parameters<typeof pooledServer>) {
  const server = await pooledServer(...args);
  closing.push(() => server.close());
  return server;
}

function callOf(name: string): RawRequest {
  return finish(draft({ method: 'tools/call', params: { name }, pooled: true }));
}

function bytesOf({ method, path, headers, body }: RawRequest): string {
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${method} ${path} HTTP/1.1\r\n${head}Content-Length: ${body?.length ?? 0}\r\n\r\n${body?.toString()}`;
}

/** A factory of servers with tools that echo. */
function echoing(): McpServer {
  const mcp = new McpServer({ name: 'test', version: '1.0.0' });
  mcp.registerTool('echo', {}, () => text('echo'));
  return mcp;
}

describe('the end of one exchange', () => {
  it('that the SDK answered in the place of an instance does not end what the instance serves by then', async () => {
    const refused = gate();
    const entered = gate();
    const hold = gate();
    let made = 0;
    const handler = createPooledHandler(async () => {
      made += 1;
      if (made === 2) await refused.opened;
      const mcp = echoing();
      mcp.registerTool('hold', {}, async ({ mcpReq: { signal } }) => {
        entered.open();
        await hold.opened;
        return text(signal.aborted ? 'aborted' : 'held');
      });
      return mcp;
    });
    const server = await loopback(handler);
    closing.push(() => server.close());
    await server.send(callOf('echo'));
    // The instance refuses this, is idle again, and the SDK's entry waits for an instance of its own.
    const unknown = server.send(finish(draft({ method: 'acme/unknown', params: {}, pooled: false })));
    await vi.waitUntil(() => made === 2);
    const held = server.send(callOf('hold'));
    await entered.opened;
    expect(made).toBe(2);
    refused.open();
    expect((await unknown).status).toBe(404);
    await new Promise(setImmediate);
    hold.open();
    expect(await held).toMatchObject({ status: 200, body: { result: { content: [{ text: 'held' }] } } });
  });

  it('whose client hung up before its turn came aborts its handler', async () => {
    const all = gate();
    let running = 0;
    const aborted: unknown[] = [];
    const server = await pooled((mcp) => {
      mcp.registerTool('meet', {}, async ({ mcpReq: { signal } }) => {
        signal.addEventListener('abort', () => aborted.push(signal.reason));
        running += 1;
        if (running % 3 === 0) all.open();
        return running <= 3 ? all.opened.then(() => text('met')) : new Promise(() => {});
      });
    });
    await Promise.all([1, 2, 3].map(() => server.tool('meet')));
    await vi.waitUntil(() => aborted.length === 3);
    const socket = connect(server.port, '127.0.0.1');
    // On one connection, so that the second and third response wait for the first.
    socket.write(bytesOf(callOf('meet')).repeat(3));
    await vi.waitUntil(() => running === 6);
    socket.destroy();
    await vi.waitUntil(() => aborted.length === 6);
    expect(server.made()).toBe(3);
    await server.send('meet-nobody');
    expect(server.made()).toBe(4);
  });
});

describe('a body', () => {
  const depth = 100_000;
  const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;

  it.each(['ours', 'the SDK'])(
    'with a _meta nested too deep to be written is served by %s',
    async (whose) => {
      const handler =
        whose === 'ours' ? createPooledHandler(echoing) : toNodeHandler(createMcpHandler(echoing));
      const server = await loopback(handler);
      closing.push(() => server.close());
      const request = callOf('echo');
      const body = Buffer.from(request.body?.toString().replace('"_meta":{', `"_meta":{"x":${deep},`) ?? '');
      expect((await server.send(request)).status).toBe(200);
      expect((await server.send({ ...request, body })).status).toBe(200);
    },
  );

  it('that middleware made a stream of text is served', async () => {
    const handler = createPooledHandler(echoing);
    const server = await loopback((incoming, response) => {
      incoming.setEncoding('utf8');
      return handler(incoming, response);
    });
    closing.push(() => server.close());
    for (let at = 0; at < 2; at += 1) expect((await server.send(callOf('echo'))).status).toBe(200);
  });
});

describe('a caller', () => {
  it.each(['ours', 'the SDK'])('that middleware calls null is nobody for %s', async (whose) => {
    const factory = (): McpServer => {
      const mcp = echoing();
      mcp.registerTool('who', {}, ({ http }) => text(http?.authInfo === undefined));
      return mcp;
    };
    const handler =
      whose === 'ours' ? createPooledHandler(factory) : toNodeHandler(createMcpHandler(factory));
    const server = await loopback((incoming, response) =>
      handler(Object.assign(incoming, { auth: null as never }), response),
    );
    closing.push(() => server.close());
    for (let at = 0; at < 2; at += 1)
      expect(await server.send(callOf('who'))).toMatchObject({
        body: { result: { content: [{ text: 'true' }] } },
      });
  });

  it('over HTTP/2 is served, under its own authority', async () => {
    const handler = createPooledHandler(() => {
      const mcp = echoing();
      mcp.registerTool('where', {}, ({ http }) => text(http?.req?.url));
      return mcp;
    });
    const server = createHttp2Server((request, response) => {
      void handler(request as never, response as never);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connectHttp2(`http://127.0.0.1:${port}`);
    closing.push(async () => {
      client.destroy();
      server.close();
    });
    const { headers, body } = callOf('where');
    for (let at = 0; at < 2; at += 1) {
      const stream = client.request({
        ':method': 'POST',
        ':path': '/mcp',
        ...Object.fromEntries(headers.slice(1).map(([name, value]) => [name.toLowerCase(), value])),
      });
      stream.end(body);
      let answer = '';
      for await (const chunk of stream.setEncoding('utf8')) answer += String(chunk);
      expect(answer).toContain(`http://127.0.0.1:${port}/mcp`);
    }
  });
});

describe('an error', () => {
  it('that onerror itself throws harms nobody', async () => {
    const handler = createPooledHandler(echoing, {
      onerror: () => {
        throw new Error('onerror throws');
      },
    });
    const server = await loopback((incoming, response) => {
      // As after a bug in middleware: looking at the request throws.
      if (incoming.url === '/bad') Object.defineProperty(incoming, 'headers', { value: undefined });
      return handler(incoming, response);
    });
    closing.push(() => server.close());
    const socket = connect(server.port, '127.0.0.1');
    socket.write('POST /bad HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
    await once(socket.resume(), 'close');
    expect((await server.send(callOf('echo'))).status).toBe(200);
    // Closing fails if the entry has rejected.
  });

  it('in writing the schema of a tool as JSON is left to the SDK, which does not write it for a call', async () => {
    const circular: Record<string, unknown> = { type: 'object' };
    circular['self'] = circular;
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => circular, output: () => circular },
      },
    };
    const server = await pooled((mcp) => {
      mcp.registerTool('strange', { inputSchema: schema }, () => text('served'));
    });
    for (let at = 0; at < 2; at += 1) expect(await server.tool('strange')).toBe('served');
  });

  it('in connecting an instance again is none: that instance is not used again', async () => {
    class Once extends McpServer {
      #isConnected = false;
      override async connect(transport: Transport): Promise<void> {
        if (this.#isConnected) throw new Error('connected twice');
        this.#isConnected = true;
        await super.connect(transport);
      }
    }
    const server = await loopback(
      createPooledHandler(() => {
        const mcp = new Once({ name: 'test', version: '1.0.0' });
        mcp.registerTool('echo', {}, () => text('echo'));
        return mcp;
      }),
    );
    closing.push(() => server.close());
    for (let at = 0; at < 3; at += 1) expect((await server.send(callOf('echo'))).status).toBe(200);
  });
});

describe('what stands between a server and its transport', () => {
  /** Sees every message, as monitoring does that wraps connect(). */
  class Watched extends McpServer {
    constructor(readonly seen: string[]) {
      super({ name: 'test', version: '1.0.0' });
      this.registerTool('echo', {}, () => text('echo'));
    }

    override async connect(transport: Transport): Promise<void> {
      await super.connect(transport);
      const { onmessage } = transport;
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- of the SDK, where there is only this
      transport.onmessage = (message, extra) => {
        this.seen.push('method' in message ? message.method : 'response');
        onmessage?.(message, extra);
      };
    }
  }

  it('sees every request, whichever instance serves it', async () => {
    const seen: string[] = [];
    const server = await loopback(createPooledHandler(() => new Watched(seen)));
    closing.push(() => server.close());
    for (let at = 0; at < 3; at += 1) await server.send(callOf('echo'));
    expect(seen).toEqual(['tools/call', 'tools/call', 'tools/call']);
  });
});

describe('the reason of one request', () => {
  it('is not an object that another request has too', async () => {
    const reasons: unknown[] = [];
    const keep: Setup = (mcp) =>
      void mcp.registerTool('keep', {}, ({ mcpReq: { signal } }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return text('');
      });
    const server = await pooled(keep);
    for (let at = 0; at < 3; at += 1) await server.tool('keep');
    await vi.waitUntil(() => reasons.length === 3);
    expect(new Set(reasons).size).toBe(3);
  });
});
