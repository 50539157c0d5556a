import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { drive, flowOf, resume, RetryNotTaken, RetryUnknown } from '../../src/client/index.js';
import { Parley } from '../../src/index.js';
import { TEST_KEY } from '../gate/wire-harness.js';
import { CALL, failureOf, optionsWith, printed, testClock } from './harness.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** What becomes of one request on its way. */
type Fault = 'none' | 'before' | 'after' | 'midway' | 'body';

interface Running {
  readonly port: number;
  /** How often the work was done. */
  worked: number;
  calls: number;
  stop(): Promise<void>;
}

/** A server on loopback whose nth request of a call suffers a fault. */
async function start(faultOf: (nth: number) => Fault, port = 0): Promise<Running> {
  const parley = new Parley({ keys: TEST_KEY, logger: { warn: () => undefined } });
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'loopback', version: '1.0.0' });
    parley.attach(mcp).registerTool('t', {}, async (flow) => {
      const isSure = await flow.confirm('go', 'Go?');
      running.worked += 1;
      return { content: [{ type: 'text', text: String(isSure) }] };
    });
    return mcp;
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const fault = body.includes('"tools/call"') ? faultOf((running.calls += 1)) : 'none';
    if (fault === 'before') return void request.socket.destroy();
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? 'POST',
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ...(request.method === 'POST' && { body }),
      }),
    );
    const text = await answer.text();
    if (fault === 'after') return void request.socket.destroy();
    if (fault === 'midway') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(': hello\n\n', () => void request.socket.destroy());
      return;
    }
    if (fault === 'body') {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      response.write(text.slice(0, 20), () => void request.socket.destroy());
      return;
    }
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
  };
  const http: Server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => void http.listen(port, '127.0.0.1', resolve));
  const running: Running = {
    port: (http.address() as AddressInfo).port,
    worked: 0,
    calls: 0,
    stop: () => {
      http.closeAllConnections();
      return new Promise<void>((resolve) => void http.close(() => resolve()));
    },
  };
  cleanups.push(() => running.stop());
  return running;
}

async function connectTo(port: number, requestInit: RequestInit = {}): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } }, inputRequired: { autoFulfill: false } },
  );
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  cleanups.push(() => client.close());
  return client;
}

const handlers = { form: () => ({ action: 'accept', content: { confirm: true } }) as const };

function optionsFor({ port }: Running) {
  return optionsWith({ server: { url: `http://127.0.0.1:${port}/mcp` }, handlers, clock: testClock() });
}

describe('over a real connection', () => {
  it('that works', async () => {
    const server = await start(() => 'none');
    const result = await drive(await connectTo(server.port), CALL, optionsFor(server));
    expect(result.content).toEqual([{ type: 'text', text: 'true' }]);
  });

  it.each<[Fault, number]>([
    ['before', 0],
    ['after', 1],
    ['midway', 1],
    ['body', 1],
  ])('that drops on the retry (%s): unknown, sent once, work done %i times', async (fault, worked) => {
    const server = await start((nth) => (nth === 2 ? fault : 'none'));
    const client = await connectTo(server.port);
    const options = { ...optionsFor(server), request: { timeout: 1500 } };
    const failure = await failureOf(drive(client, CALL, options));
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect([server.calls, server.worked]).toEqual([2, worked]);
    const flow = flowOf(failure);
    expect(printed(failure)).not.toContain(flow?.requestState);
    const result = await resume(client, flow, { ...options, resend: true });
    expect(result).toMatchObject({ content: [{ text: 'true' }] });
    expect([server.calls, server.worked]).toEqual([3, worked + 1]);
  });

  it('that drops on the first request: the error of the client, and nothing is sent again', async () => {
    const server = await start((nth) => (nth === 1 ? 'before' : 'none'));
    const failure = await failureOf(drive(await connectTo(server.port), CALL, optionsFor(server)));
    expect(failure).not.toBeInstanceOf(RetryUnknown);
    expect(server.calls).toBe(1);
  });

  it('to a server that dies in the middle of a call: another one with its keys goes on', async () => {
    const first = await start(() => 'none');
    // A connection for each request, so that the retry finds that there is nobody.
    const client = await connectTo(first.port, { headers: { connection: 'close' } });
    const failure = await failureOf(
      drive(client, CALL, {
        ...optionsFor(first),
        handlers: {
          form: async () => {
            await first.stop();
            return { action: 'accept', content: { confirm: true } };
          },
        },
      }),
    );
    expect(failure).toBeInstanceOf(RetryNotTaken);
    const second = await start(() => 'none', first.port);
    const result = await resume(await connectTo(second.port), flowOf(failure), optionsFor(second));
    expect(result).toMatchObject({ content: [{ text: 'true' }] });
    expect([first.worked, second.worked]).toEqual([0, 1]);
  });
});
