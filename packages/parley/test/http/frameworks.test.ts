import { createServer, request as open, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo } from '@modelcontextprotocol/server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, it } from 'vitest';
import { createPooledHandler, type PooledHandler } from '../../src/http/index.js';
import { everythingServer } from './everything-server.js';
import { draft, finish } from './faults.js';
import type { Loopback, RawRequest, RawResponse } from './raw-request.js';
import { ASKING, playRounds } from './rounds.js';

/** What is mounted: the pooled handler, or to compare with, the SDK's. */
type Handler = PooledHandler | ReturnType<typeof toNodeHandler>;

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function ending(server: Server): Server {
  ends.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  return server;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (ending(server).address() as AddressInfo).port;
}

const AUTH: AuthInfo = { token: 't', clientId: 'app', scopes: [], extra: { sub: 'ann' } };

/** Each mounts a handler as docs/http.md says, and gives its port. */
const MOUNTS: Readonly<Record<string, (handler: Handler) => Promise<number>>> = {
  async 'node:http'(handler) {
    return listen(createServer((request, response) => void handler(request, response)));
  },

  async 'Express 5'(handler) {
    const app = express();
    app.all('/mcp', (request, response) => handler(request, response, request.body));
    return listen(createServer(app));
  },

  async 'Express 5, the handler as middleware'(handler) {
    const app = express();
    app.use('/mcp', handler);
    return listen(createServer(app));
  },

  async 'Express 5 with express.json()'(handler) {
    const app = express();
    app.use(express.json({ limit: '4mb' }));
    app.all('/mcp', (request, response) => handler(request, response, request.body));
    return listen(createServer(app));
  },

  async 'Fastify 5, which parses JSON'(handler) {
    const app = fastify({ bodyLimit: 4 * 1024 * 1024 });
    app.all('/mcp', async (request, reply) => {
      reply.hijack();
      await handler(request.raw, reply.raw, request.body);
    });
    await app.ready();
    ends.push(() => app.close());
    return listen(app.server);
  },

  async 'Fastify 5 that leaves the body'(handler) {
    const app = fastify();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    app.all('/mcp', async (request, reply) => {
      reply.hijack();
      await handler(request.raw, reply.raw);
    });
    await app.ready();
    ends.push(() => app.close());
    return listen(app.server);
  },

  async 'Hono on Node'(handler) {
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.all('/mcp', async ({ env }) => {
      await handler(env.incoming, env.outgoing);
      return RESPONSE_ALREADY_SENT;
    });
    return listen(createAdaptorServer({ fetch: app.fetch }) as Server);
  },

  async 'Hono on Node, which read the body'(handler) {
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.all('/mcp', async ({ env, req }) => {
      await handler(env.incoming, env.outgoing, await req.json());
      return RESPONSE_ALREADY_SENT;
    });
    return listen(createAdaptorServer({ fetch: app.fetch }) as Server);
  },
};

/** Sends one request and reads the JSON of its response. */
function send(port: number, { method, path, headers, body }: RawRequest): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const flat = [...headers.flat(), 'Content-Length', String(body?.length ?? 0)];
    const outgoing = open({ host: '127.0.0.1', port, method, path, headers: flat }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: JSON.parse(text) as unknown,
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function clientOf(port: number): Loopback {
  return { port, send: (request) => send(port, request), close: async () => {} };
}

describe.each(Object.entries(MOUNTS))('%s', (_, mount) => {
  it('serves all rounds of a flow from one server', async () => {
    const { factory, calls } = everythingServer();
    const client = clientOf(await mount(createPooledHandler(factory)));
    for (let turn = 0; turn < 2; turn += 1) {
      const asking = ASKING['tool of three rounds'];
      if (asking === undefined) throw new Error('There is no such call.');
      const rounds = await playRounds(asking, () => client);
      expect(rounds.map(({ status }) => status)).toEqual([200, 200, 200]);
      const text = JSON.stringify({ build: 'prod-1', region: 'eu', sure: true, round: 3 });
      expect(rounds[2]?.body).toMatchObject({ result: { content: [{ text }] } });
    }
    expect(calls()).toBe(1);
  });

  it('lets the SDK answer what is not for the pool, with the whole body', async () => {
    const legacy = finish({
      ...draft({ method: 'initialize', params: {}, pooled: false }),
      headers: [
        ['Host', 'localhost'],
        ['Content-Type', 'application/json'],
        ['Accept', 'application/json'],
      ],
    });
    const unknown = finish(draft({ method: 'acme/unknown', params: {}, pooled: false }));
    const ours = await mount(createPooledHandler(everythingServer().factory));
    const theirs = await mount(toNodeHandler(createMcpHandler(everythingServer().factory)));
    await send(ours, unknown);
    for (const request of [legacy, unknown]) {
      const { status, body } = await send(ours, request);
      const expected = await send(theirs, request);
      expect({ status, body }).toEqual({ status: expected.status, body: expected.body });
    }
  });
});

describe('behind middleware', () => {
  it('that verified the caller, handlers know it', async () => {
    const { factory } = everythingServer();
    const app = express();
    app.use((request, _response, next) => {
      Object.assign(request, { auth: AUTH });
      next();
    });
    const handler = createPooledHandler(factory);
    app.all('/mcp', (request, response) => handler(request, response, request.body));
    const client = clientOf(await listen(createServer(app)));
    const seen = finish(draft({ method: 'acme/seen', params: {}, pooled: true }));
    for (let turn = 0; turn < 2; turn += 1)
      expect((await client.send(seen)).body).toMatchObject({ result: { auth: AUTH } });
  });

  it.each(['ours', 'the SDK'] as const)(
    'that read the body and did not give it, %s answers, as to an empty one',
    async (whose) => {
      const { factory } = everythingServer();
      const handler =
        whose === 'ours' ? createPooledHandler(factory) : toNodeHandler(createMcpHandler(factory));
      const app = express();
      app.use(express.json());
      // By then, all events of the request are over.
      app.use((_request, _response, next) => void setImmediate(next));
      app.all('/mcp', (request, response) => handler(request, response));
      const client = clientOf(await listen(createServer(app)));
      const { status, body } = await client.send(
        finish(draft({ method: 'tools/list', params: {}, pooled: true })),
      );
      expect(status).toBe(400);
      expect(body).toMatchObject({ error: { code: -32_700 } });
    },
  );
});
