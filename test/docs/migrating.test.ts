import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { load } from './load.js';
import { pages } from './markdown.js';

const page = pages().find(({ file }) => file === 'docs/migrating.md');
const { calls } = (await load('shop.ts', page?.modules.get('shop.ts') ?? '')) as { calls: string[] };
const blocks = page?.blocks ?? [];

/** What a person answers, question by question; everything is written down. */
async function book(
  handler: McpHttpHandler,
  replies: readonly object[],
): Promise<{ asked: string[]; text: string | undefined; effects: string[] }> {
  calls.length = 0;
  const asked: string[] = [];
  const left = [...replies];
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: {}, ...left.shift() };
  });
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: (url, init) => handler.fetch(new Request(url, init)),
  });
  await client.connect(transport);
  const { content } = await client.callTool({ name: 'book', arguments: { flight: 'LX 7' } });
  await client.close();
  const [block] = content;
  return { asked, text: block?.type === 'text' ? block.text : undefined, effects: [...calls] };
}

it('the three programs of docs/migrating.md do the same', async () => {
  expect(blocks).toHaveLength(3);
  const handlers: McpHttpHandler[] = [];
  for (const [index, { code }] of blocks.entries()) {
    handlers.push((await load(`program-${index}.ts`, code))['handler'] as McpHttpHandler);
  }
  const seats = { content: { seats: 2 } };
  const stories = [
    { replies: [seats, { content: { confirm: true } }], said: 'Booked: R1.' },
    { replies: [seats, { content: { confirm: false } }], said: 'Not booked.' },
    { replies: [seats, { action: 'decline' }], said: 'Not booked.' },
    { replies: [seats, { action: 'cancel' }], said: 'Not booked.' },
    { replies: [{ content: { seats: 0 } }, seats, { content: { confirm: true } }], said: 'Booked: R1.' },
  ];
  for (const { replies, said } of stories) {
    for (const handler of handlers) {
      const { asked, text, effects } = await book(handler, replies);
      expect(text).toBe(said);
      expect(asked.map((message) => message.split('\n')[0])).toEqual([
        ...replies.slice(1).map(() => 'How many seats?'),
        'Book 2 seats for 40 €?',
      ]);
      expect(effects).toEqual(said === 'Not booked.' ? ['price LX 7'] : ['price LX 7', 'book LX 7 2']);
    }
  }
});
