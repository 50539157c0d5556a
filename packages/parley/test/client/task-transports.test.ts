import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { CallStopped, drive, flowOf, resume, type Clock } from '../../src/client/index.js';
import { CALL, failureOf, filling, optionsWith, testClock, textForm } from './harness.js';
import { taskServer, type HandTask, type TaskServer } from './servers/tasks.js';
import { text } from './task-script.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Work that asks one thing, and is done. */
function asking(task: HandTask): void {
  if (task.answer('q') === undefined) task.ask({ q: textForm() });
  else task.complete(text('done'));
}

function newClient(): Client {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, inputRequired: { autoFulfill: false } },
  );
  cleanups.push(() => client.close());
  return client;
}

/** What becomes of a request: the connection may break before it is served, or after. */
type Fault = 'none' | 'before' | 'after';

interface Listening {
  readonly port: number;
  stop(): Promise<void>;
}

/** The server over HTTP on loopback. `faultOf` gets the method of a request, and how many of it there were. */
async function listen(
  { create }: TaskServer,
  faultOf: (method: string, nth: number) => Fault = () => 'none',
  port = 0,
): Promise<Listening> {
  const handler = createMcpHandler(create);
  const counts = new Map<string, number>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const method = String(request.headers['mcp-method']);
    const nth = (counts.get(method) ?? 0) + 1;
    counts.set(method, nth);
    const fault = faultOf(method, nth);
    if (fault === 'before') return void request.socket.destroy();
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? 'POST',
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ...(request.method === 'POST' && { body: Buffer.concat(chunks) }),
      }),
    );
    const body = await answer.text();
    if (fault === 'after') return void request.socket.destroy();
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body);
  };
  const http = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => void http.listen(port, '127.0.0.1', resolve));
  const stop = (): Promise<void> => {
    http.closeAllConnections();
    return new Promise((resolve) => void http.close(() => resolve()));
  };
  cleanups.push(stop);
  return { port: (http.address() as AddressInfo).port, stop };
}

async function connectTo({ port }: Listening, clock: Clock = testClock(60_000)) {
  const url = `http://127.0.0.1:${port}/mcp`;
  const client = newClient();
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, options: optionsWith({ server: { url }, clock }) };
}

describe('a task over real HTTP', () => {
  it.each<[string, (method: string, nth: number) => Fault, string[]]>([
    ['that works', () => 'none', ['get', 'update', 'get']],
    [
      'that drops looks',
      (method, nth) => (method === 'tasks/get' && nth % 2 === 1 ? 'before' : 'none'),
      ['get', 'update', 'get'],
    ],
    [
      'that drops what the looks show',
      (method, nth) => (method === 'tasks/get' && nth % 2 === 1 ? 'after' : 'none'),
      ['get', 'get', 'update', 'get', 'get'],
    ],
    [
      'that drops answers',
      (method, nth) => (method === 'tasks/update' && nth === 1 ? 'before' : 'none'),
      ['get', 'get', 'update', 'get'],
    ],
    [
      'that drops what says that they arrived',
      (method, nth) => (method === 'tasks/update' && nth === 1 ? 'after' : 'none'),
      ['get', 'update', 'get'],
    ],
  ])('%s', async (_, faultOf, log) => {
    const server = taskServer(asking);
    const { client, options } = await connectTo(await listen(server, faultOf));
    const asked: never[] = [];
    const result = await drive(client, CALL, { ...options, handlers: filling(asked) });
    expect(result).toMatchObject(text('done'));
    expect(asked).toHaveLength(1);
    expect(server.log).toEqual(log);
  });

  it('of a server that dies while somebody is asked, and comes back two pauses later', async () => {
    const server = taskServer(asking);
    const first = await listen(server);
    const jumps = testClock(60_000);
    let pauses = 0;
    const clock: Clock = {
      now: () => jumps.now(),
      async sleep(ms, signal) {
        pauses += 1;
        if (pauses === 2) await listen(server, undefined, first.port);
        await jumps.sleep(ms, signal);
      },
    };
    const { client, options } = await connectTo(first, clock);
    let asked = 0;
    const form = async () => {
      asked += 1;
      await first.stop();
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    expect(await drive(client, CALL, { ...options, handlers: { form } })).toMatchObject(text('done'));
    expect(asked).toBe(1);
  });

  it('of a server that stays away: another process goes on when it is back', async () => {
    const server = taskServer(asking);
    const first = await listen(server);
    const { client, options } = await connectTo(first);
    const form = async () => {
      await first.stop();
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    const failure = await failureOf(drive(client, CALL, { ...options, handlers: { form } }));
    expect(failure).toMatchObject({ code: 'task_unreachable', attempts: 9 });
    await listen(server, undefined, first.port);
    const other = await connectTo(first);
    const asked: never[] = [];
    const again = { ...other.options, handlers: filling(asked) };
    expect(await resume(other.client, flowOf(failure), again)).toMatchObject(text('done'));
    expect(asked).toHaveLength(1);
  });

  it('a look under way is hung up on when the call is given up', async () => {
    let isHungUp: () => void = () => undefined;
    const hungUp = new Promise<void>((resolve) => void (isHungUp = resolve));
    const abort = new AbortController();
    const server = taskServer((task) => task.status !== 'cancelled' && task.working());
    const handler = createMcpHandler(server.create);
    const client = newClient();
    const url = 'http://127.0.0.1/mcp';
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), {
        fetch: (input, init) => {
          const isLook = new Headers(init?.headers).get('mcp-method') === 'tasks/get';
          if (!isLook) return handler.fetch(new Request(input, init));
          abort.abort();
          return new Promise((_, reject) => {
            const hangUp = (): void => {
              isHungUp();
              reject(new Error('aborted'));
            };
            if (init?.signal?.aborted === true) hangUp();
            init?.signal?.addEventListener('abort', hangUp);
          });
        },
      }),
    );
    const options = optionsWith({ server: { url }, signal: abort.signal });
    expect(await failureOf(drive(client, CALL, options))).toBeInstanceOf(CallStopped);
    await hungUp;
    expect(server.log).toEqual(['cancel']);
  });
});

describe('a task over one channel, as with stdio', () => {
  /** A client of a server on a pair of pipes, with all that the client writes. */
  async function connectPipes(server: TaskServer) {
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    const written: string[] = [];
    toServer.on('data', (chunk: Buffer) => void written.push(chunk.toString()));
    const serving = serveStdio(server.create, { transport: new StdioServerTransport(toServer, toClient) });
    cleanups.push(() => serving.close());
    const client = newClient();
    await client.connect(new StdioServerTransport(toClient, toServer));
    const methods = (): unknown[] =>
      written
        .join('')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { method?: unknown }).method);
    return { client, methods, options: optionsWith({ server: { command: 'node' } }) };
  }

  it('works', async () => {
    const { client, methods, options } = await connectPipes(taskServer(asking));
    expect(await drive(client, CALL, options)).toMatchObject(text('done'));
    expect(methods().slice(-4)).toEqual(['tools/call', 'tasks/get', 'tasks/update', 'tasks/get']);
  });

  it('is cancelled by tasks/cancel and never by notifications/cancelled, also during a look (TASK-25)', async () => {
    const abort = new AbortController();
    const server = taskServer((task) => {
      if (server.log.length === 2) abort.abort();
      if (task.status !== 'cancelled') task.working();
    });
    const { client, methods, options } = await connectPipes(server);
    const failure = await failureOf(drive(client, CALL, { ...options, signal: abort.signal }));
    expect(failure).toBeInstanceOf(CallStopped);
    expect(methods().slice(-4)).toEqual(['tools/call', 'tasks/get', 'tasks/get', 'tasks/cancel']);
    expect([...server.tasks.values()].map(({ status }) => status)).toEqual(['cancelled']);
  });
});
