import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Parley } from '../../src/index.js';
import { TEST_KEY } from './wire-harness.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** How often the step of a flow ran, over all of its rounds. */
let built = 0;

const parley = new Parley({ keys: TEST_KEY, logger: { warn: () => undefined } });

function factory(): McpServer {
  const mcp = new McpServer({ name: 'releases', version: '1.0.0' });
  const flows = parley.attach(mcp);
  flows.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, async ({ env }, flow) => {
    const build = await flow.step('build', () => ({ id: (built += 1) }));
    const [{ region }, { size }] = await Promise.all([
      flow.form('region', { message: 'Region?', schema: z.object({ region: z.string() }) }),
      flow.form('size', { message: 'Size?', schema: z.object({ size: z.int() }) }),
    ]);
    if (!(await flow.confirm('go', `Deploy to ${region}?`)))
      return { content: [{ type: 'text', text: 'no' }] };
    return { content: [{ type: 'text', text: `${build.id} ${env} ${region} ${size}` }] };
  });
  return mcp;
}

/** A client that answers, and counts how often it was asked. */
function clientOf(mode: 'modern' | 'legacy'): { client: Client; messages: string[] } {
  const messages: string[] = [];
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: { form: {} } },
      ...(mode === 'modern' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }): ElicitResult => {
    messages.push(params.message);
    if (params.message === 'Region?') return { action: 'accept', content: { region: 'eu' } };
    if (params.message === 'Size?') return { action: 'accept', content: { size: 3 } };
    return { action: 'accept', content: { confirm: true } };
  });
  cleanups.push(() => client.close());
  return { client, messages };
}

async function deploy(client: Client): Promise<string> {
  built = 0;
  const { content } = await client.callTool({ name: 'deploy', arguments: { env: 'prod' } });
  return content[0]?.type === 'text' ? content[0].text : '';
}

describe('one handler body, every client (TRAN-13)', () => {
  it('createMcpHandler over real HTTP, a client of 2026-07-28', async () => {
    const handle = toNodeHandler(createMcpHandler(factory));
    const http = createServer((request, response) => void handle(request, response));
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(resolve));
    });
    const { client, messages } = clientOf('modern');
    const { port } = http.address() as AddressInfo;
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
    expect(await deploy(client)).toBe('1 prod eu 3');
    expect(messages).toEqual(['Region?', 'Size?', 'Deploy to eu?']);
    expect(built).toBe(1);
  });

  it.each(['modern', 'legacy'] as const)('serveStdio, a %s client', async (mode) => {
    const [toServer, toClient] = [new PassThrough(), new PassThrough()];
    const handle = serveStdio(factory, { transport: new StdioServerTransport(toServer, toClient) });
    cleanups.push(() => handle.close());
    const { client, messages } = clientOf(mode);
    const output: string[] = [];
    toClient.on('data', (chunk: Buffer) => void output.push(chunk.toString()));
    await client.connect(new StdioServerTransport(toClient, toServer));
    expect(await deploy(client)).toBe('1 prod eu 3');
    expect(messages).toEqual(['Region?', 'Size?', 'Deploy to eu?']);
    expect(built).toBe(1);
    // GAP-51: input_required is not a word of the 2025 wire; CORE-12: requests from a server are none of 2026's.
    expect(output.join('').includes('input_required')).toBe(mode === 'modern');
    const sent = output
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(sent.some((message) => 'method' in message && 'id' in message)).toBe(mode === 'legacy');
  });

  it('a long-lived connection of 2025-11-25, through the shim of the SDK', async () => {
    const [a, b] = InMemoryTransport.createLinkedPair();
    const mcp = factory();
    await mcp.connect(a);
    cleanups.push(() => mcp.close());
    const { client, messages } = clientOf('legacy');
    await client.connect(b);
    expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
    expect(await deploy(client)).toBe('1 prod eu 3');
    expect(messages).toHaveLength(3);
    expect(built).toBe(1);
  });

  it('two flows on one connection do not mix (MRTR-S-21)', async () => {
    const [a, b] = InMemoryTransport.createLinkedPair();
    const mcp = factory();
    await mcp.connect(a);
    cleanups.push(() => mcp.close());
    const { client } = clientOf('legacy');
    await client.connect(b);
    const results = await Promise.all(
      ['x', 'y', 'z'].map((env) => client.callTool({ name: 'deploy', arguments: { env } })),
    );
    const texts = results.map(({ content }) =>
      content[0]?.type === 'text' ? content[0].text.slice(2, 3) : '',
    );
    expect(texts).toEqual(['x', 'y', 'z']);
  });
});

describe('a client that hangs up (TRAN-01)', () => {
  it('aborts the signal of a running step, and nothing after it runs', async () => {
    const [a, b] = InMemoryTransport.createLinkedPair();
    const mcp = new McpServer({ name: 'releases', version: '1.0.0' });
    let aborted = false;
    let wentOn = false;
    let started: () => void = () => undefined;
    const running = new Promise<void>((resolve) => void (started = resolve));
    let ended: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => void (ended = resolve));
    parley.attach(mcp).registerTool('slow', {}, async (flow) => {
      await flow.step('work', async ({ signal }) => {
        started();
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve();
          });
        });
        ended();
      });
      wentOn = true;
      return { content: [] };
    });
    await mcp.connect(a);
    cleanups.push(() => mcp.close());
    const { client } = clientOf('legacy');
    await client.connect(b);
    const abort = new AbortController();
    const call = client.callTool({ name: 'slow' }, { signal: abort.signal }).catch(() => 'cancelled');
    await running;
    abort.abort();
    expect(await call).toBe('cancelled');
    await stopped;
    await new Promise((resolve) => void setImmediate(resolve));
    expect(aborted).toBe(true);
    expect(wentOn).toBe(false);
  });
});
