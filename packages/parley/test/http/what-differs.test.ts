import { readFileSync } from 'node:fs';
import { requireScopes } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pooledServer, sdkServer, text, type Setup, type TestServer } from './pooled-server.js';

/*
 * What docs/http.md lists under "What differs" is what the code does: each line of that list has a test of its name
 * here. The second request to each entry is looked at, which the pool answers.
 */

const servers: TestServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Lets both entries answer twice, and gives the second answers. */
async function both<T>(
  setup: Setup,
  ask: (server: TestServer) => Promise<T>,
): Promise<{ sdk: T; pooled: T }> {
  const sdk = await sdkServer(setup);
  const pooled = await pooledServer(setup);
  servers.push(sdk, pooled);
  await ask(sdk);
  await ask(pooled);
  return { sdk: await ask(sdk), pooled: await ask(pooled) };
}

const DIFFERENCES: Readonly<Record<string, () => Promise<void>>> = {
  async 'Length of a response'() {
    const { sdk, pooled } = await both(
      (mcp) => void mcp.registerTool('echo', {}, () => text('echo')),
      (server) =>
        new Promise((resolve) => {
          server.begin('echo').on('response', (response) => {
            response.resume();
            resolve([response.headers['transfer-encoding'], typeof response.headers['content-length']]);
          });
        }),
    );
    expect(sdk).toEqual(['chunked', 'undefined']);
    expect(pooled).toEqual([undefined, 'string']);
  },

  async 'Body of `ctx.http.req`'() {
    const { sdk, pooled } = await both(
      (mcp) => {
        mcp.registerTool('body', {}, async ({ http }) => {
          const { req } = http ?? {};
          const isUsed = req?.bodyUsed;
          const body = await req?.text().catch(() => 'unusable');
          return text([isUsed, body].join(' '));
        });
      },
      ({ tool }) => tool('body'),
    );
    expect(sdk).toBe('true unusable');
    expect(pooled).toBe('false ');
  },

  async 'State in the closure of a factory'() {
    const { sdk, pooled } = await both(
      (mcp) => {
        let count = 0;
        mcp.registerTool('count', {}, () => text((count += 1)));
      },
      ({ tool }) => tool('count'),
    );
    expect(sdk).toBe('1');
    expect(pooled).toBe('2');
  },

  async 'What is sent too late'() {
    const outcomes: string[] = [];
    const { sdk, pooled } = await both(
      (mcp) => {
        mcp.registerTool('late', {}, () => {
          setImmediate(() => {
            const isConnected = mcp.isConnected();
            mcp.server.sendLoggingMessage({ level: 'error', data: 'late' }).then(
              () => outcomes.push(`dropped, connected: ${isConnected}`),
              () => outcomes.push(`rejected, connected: ${isConnected}`),
            );
          });
          return text('');
        });
      },
      async ({ tool }) => {
        outcomes.length = 0;
        await tool('late');
        return vi.waitUntil(() => outcomes[0]);
      },
    );
    expect(sdk).toBe('rejected, connected: false');
    expect(pooled).toBe('dropped, connected: true');
  },

  async 'Notifications by id'() {
    const { sdk, pooled } = await both(
      (mcp) => {
        mcp.registerTool('tell', {}, async ({ mcpReq: { id, notify } }) => {
          const message = {
            method: 'notifications/progress' as const,
            params: { progressToken: 1, progress: 1 },
          };
          const byId = mcp.server.notification(message, { relatedRequestId: id });
          const outcome = await byId.then(
            () => 'sent',
            ({ code }: { readonly code: string }) => code,
          );
          await notify(message);
          return text(outcome);
        });
      },
      async ({ send }) => JSON.stringify((await send('tell')).body),
    );
    const TOLD = /notifications\/progress/g;
    expect([sdk.match(TOLD)?.length, sdk.includes('sent')]).toEqual([2, true]);
    expect([pooled.match(TOLD)?.length, pooled.includes('NOT_CONNECTED')]).toEqual([1, true]);
  },

  async 'Scopes are looked at twice'() {
    let looks = 0;
    const needs = requireScopes('admin');
    const { sdk, pooled } = await both(
      (mcp) => {
        const scopeChallenge: typeof needs = (context) => {
          looks += 1;
          return needs(context);
        };
        mcp.registerTool('free', {}, () => text('free'));
        mcp.registerTool('guarded', { scopeChallenge }, () => text('guarded'));
      },
      async ({ tool, send }) => {
        await tool('free');
        const before = looks;
        expect((await send('guarded', { user: 'ann' })).status).toBe(403);
        return looks - before;
      },
    );
    expect([sdk, pooled]).toEqual([1, 2]);
  },
};

describe('the difference that docs/http.md calls', () => {
  it.each(Object.entries(DIFFERENCES))('%s', async (_, check) => check());

  it('anything else has no test here, and nothing tested is missing there', () => {
    const page = readFileSync(new URL('../../../../docs/http.md', import.meta.url), 'utf8');
    const [, list = ''] = /^## What differs\n([^]*?)(?:^## |(?![^]))/m.exec(page) ?? [];
    const named = Array.from(list.matchAll(/^- \*\*(.+?)\.\*\*/gm), ([, name]) => name);
    expect(named).toEqual(Object.keys(DIFFERENCES));
  });
});
