/**
 * An MCP server that pays expenses once a manager has said yes. It keeps nothing of any call: it may be killed while
 * the manager thinks, and another process with the same keys goes on.
 *
 * For the story it is told by the environment what day it is (DAYS_LATER), and when to die (DIES).
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, type AuthInfo } from '@modelcontextprotocol/server';
import { Parley } from 'mcp-parley';
import * as z from 'zod';

const { PARLEY_KEYS, PORT = '0', BOOKS = '.', DAYS_LATER = '0', DIES } = process.env;
const DAY = 24 * 60 * 60 * 1000;

const parley = new Parley({ keys: PARLEY_KEYS, now: () => Date.now() + Number(DAYS_LATER) * DAY });

/** Chosen by whoever asks, so that both sides can speak of the same expense after a connection was lost. */
const reference = z.string().regex(/^[\w-]{1,40}$/);

const mcp = createMcpHandler(() => {
  const server = new McpServer({ name: 'expenses', version: '1.0.0' });
  const flows = parley.attach(server);

  flows.registerTool(
    'reimburse',
    {
      description: 'Pays an expense, once a manager has approved it.',
      inputSchema: z.object({ reference, amount: z.int().positive(), purpose: z.string() }),
      // Managers have weekends. The defaults are ten minutes, and a day.
      ttl: 5 * DAY,
      deadline: 10 * DAY,
    },
    async ({ reference, amount, purpose }, flow) => {
      const { approve, note } = await flow.form('approval', {
        message: `${reference}: ${amount} EUR for ${purpose}. Is this to be paid?`,
        schema: z.object({ approve: z.boolean(), note: z.string().max(100).optional() }),
      });
      if (!approve) return text(`${reference} was not approved. ${note ?? ''}`.trimEnd());
      await flow.step('pay', () => pay(reference, amount));
      return text(`${reference} is paid: ${amount} EUR.`);
    },
  );

  server.registerTool(
    'payment',
    {
      description: 'Tells whether an expense was paid.',
      inputSchema: z.object({ reference }),
      outputSchema: z.object({ paid: z.boolean() }),
    },
    async ({ reference }) => {
      const paid = await isPaid(reference);
      return { ...text(paid ? 'paid' : 'not paid'), structuredContent: { paid } };
    },
  );
  return server;
});

/** The books take one payment for each reference, so a second try changes nothing. */
async function pay(reference: string, amount: number): Promise<void> {
  if (DIES === 'before paying') await die();
  await writeFile(join(BOOKS, reference), `${amount} EUR\n`, { flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
  if (DIES === 'after paying') await die();
}

async function isPaid(reference: string): Promise<boolean> {
  return readFile(join(BOOKS, reference)).then(
    () => true,
    () => false,
  );
}

/** As in a crash: no answer, no goodbye. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

function text(text: string): { content: [{ type: 'text'; text: string }] } {
  return { content: [{ type: 'text', text }] };
}

/** Stands for the check of an access token. Tokens change from day to day; whom they speak for does not. */
function verify(header: string | undefined): AuthInfo | undefined {
  const [, token = '', sub] = /^Bearer (([a-z]+)\.\w+)$/.exec(header ?? '') ?? [];
  if (sub === undefined) return undefined;
  return { token, clientId: 'expenses-host', scopes: [], extra: { iss: 'https://login.example', sub } };
}

const handle = toNodeHandler({
  fetch: async (request: Request) => {
    const authInfo = verify(request.headers.get('authorization') ?? undefined);
    if (authInfo !== undefined) return mcp.fetch(request, { authInfo });
    return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  },
});

// The cast is for `exactOptionalPropertyTypes` alone; without that option it is not needed.
const http = createServer(handle as RequestListener);
http.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`listening ${(http.address() as AddressInfo).port}`),
);

// One line for each answer that came with a state which could be opened.
parley.on('opened', ({ target }) => console.log(`answered: ${target}`));

// Started by the story, it ends with it, however that ends.
process.once('disconnect', () => process.exit());
