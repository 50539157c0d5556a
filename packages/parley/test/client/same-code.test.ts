import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { afterEach, describe, expect, it } from 'vitest';
import { ServerProcess } from '../../../../examples/demo/fleet.js';
import { drive, prefill, type Answers, type FormQuestion } from '../../src/client/index.js';
import { TEST_KEY } from '../gate/wire-harness.js';
import { deployByHand } from './servers/by-hand.js';
import { listen } from './servers/listen.js';
import { deployOf2025, type Stream } from './servers/of-2025.js';

/*
 * One host, in one piece of code that knows nothing of the server, drives servers that have nothing in common but the
 * protocol, over real connections.
 */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** What a person sees and gets. */
interface Seen {
  readonly asked: readonly string[];
  readonly result: string;
}

/** The host. It fills forms as they suggest it, and says yes or no at the end. */
async function host(url: string, isSure: boolean): Promise<Seen & { readonly protocol: string | undefined }> {
  const client = new Client(
    { name: 'host', version: '1.0.0' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { authProvider: { token: async () => 'alice' } }),
  );
  cleanups.push(() => client.close());
  const asked: string[] = [];
  const result = await drive(
    client,
    {
      method: 'tools/call',
      params: { name: 'deploy', arguments: { service: 'shop', environment: 'production' } },
    },
    {
      server: { url, principal: 'alice' },
      handlers: {
        form: (question) => {
          asked.push(question.message);
          return fillIn(question, isSure);
        },
      },
    },
  );
  const [block] = result.content;
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    asked,
    result: block?.type === 'text' ? block.text : '',
  };
}

function fillIn({ schema }: FormQuestion, isSure: boolean): Answers['form'] {
  const start = prefill(schema);
  const content = Object.entries(schema.properties).map(([name, field]) => {
    if (field.type === 'boolean') return [name, isSure];
    return [name, start[name] ?? ('enum' in field ? field.enum?.[0] : undefined)];
  });
  return { action: 'accept', content: Object.fromEntries(content) };
}

/** The demo's server names each build at random. */
function named({ asked, result }: Seen): Seen {
  const plain = (text: string): string => text.replace(/shop-[\da-f]{8}/, 'shop-1a2b3c4d');
  return { asked: asked.map(plain), result: plain(result) };
}

/** Our demo's server, in a process of its own. */
async function demo(): Promise<string> {
  const server = new ServerProcess('A', { PARLEY_KEYS: TEST_KEY });
  cleanups.push(() => server.kill());
  return `http://127.0.0.1:${await server.port()}/mcp`;
}

async function byHand(): Promise<string> {
  const handle = toNodeHandler(deployByHand());
  return listening((request, response) => handle(request, response));
}

const of2025 = (stream: Stream) => (): Promise<string> => listening(deployOf2025(stream));

async function listening(serve: Parameters<typeof listen>[0]): Promise<string> {
  const server = await listen(serve);
  cleanups.push(() => server.close());
  return server.url;
}

describe('one and the same host drives', () => {
  it.each([
    [`a server of Parley's, the demo's own process`, '2026-07-28', demo],
    ['a server by hand, on the official SDK alone', '2026-07-28', byHand],
    ['a server of 2025-11-25, on SDK 1, that asks in the response to the call', '2025-11-25', of2025('call')],
    ['a server of 2025-11-25, on SDK 1, that asks beside the call', '2025-11-25', of2025('session')],
  ])('%s', async (_, protocol, start) => {
    const plan = 'shop-1a2b3c4d to production in eu-west, 3 replicas, rolling';
    const asked = ['Which region?', 'How is it rolled out?', `Deploy ${plan}?`];
    const url = await start();
    for (const isSure of [true, false]) {
      const seen = await host(url, isSure);
      expect(seen.protocol).toBe(protocol);
      expect(named(seen)).toEqual({
        asked,
        result: isSure ? `Deployed ${plan}: release 42.` : 'Not deployed.',
      });
    }
  });
});
