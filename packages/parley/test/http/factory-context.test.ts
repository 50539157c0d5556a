import type { AuthInfo, McpRequestContext } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { gate, pooledServer, text, type Setup, type TestServer } from './pooled-server.js';

let server: TestServer | undefined;

async function serve(setup: Setup): Promise<TestServer> {
  server = await pooledServer(setup);
  return server;
}

afterEach(async () => {
  await server?.close();
  server = undefined;
});

function nameOf(auth: AuthInfo | undefined): string {
  return auth?.token ?? 'nobody';
}

describe('a factory that looks at the request is called for every request', () => {
  it.each<[string, (context: McpRequestContext) => unknown]>([
    ['authInfo', (context) => context.authInfo],
    ['requestInfo', (context) => context.requestInfo],
    ['by destructuring', ({ authInfo }) => authInfo],
    ['by spreading', (context) => ({ ...context })],
    ['by `in`', (context) => 'authInfo' in context],
    ['by its keys', (context) => Object.keys(context)],
    ['by its descriptors', (context) => Object.getOwnPropertyDescriptor(context, 'authInfo')],
    ['as JSON', (context) => JSON.stringify(context)],
    ['by hasOwn', (context) => Object.hasOwn(context, 'authInfo')],
  ])('%s', async (_, look) => {
    const { tool } = await serve((mcp, made, context) => {
      look(context);
      mcp.registerTool('which', {}, () => text(made));
    });
    expect([await tool('which'), await tool('which'), await tool('which')]).toEqual(['1', '2', '3']);
  });

  it('and sees what is there', async () => {
    const seen: unknown[] = [];
    const { tool } = await serve((mcp, _, context) => {
      seen.push([Object.keys(context).toSorted(), nameOf(context.authInfo), context.requestInfo?.method]);
      mcp.registerTool('any', {}, () => text('any'));
    });
    await tool('any', { user: 'ann' });
    await tool('any');
    expect(seen).toEqual([
      [['authInfo', 'era', 'requestInfo'], 'ann', 'POST'],
      [['era', 'requestInfo'], 'nobody', 'POST'],
    ]);
  });

  it('unless it only asks for the era', async () => {
    const { tool, made } = await serve(
      (mcp, _, { era }) => void mcp.registerTool('era', {}, () => text(era)),
    );
    expect([await tool('era'), await tool('era')]).toEqual(['modern', 'modern']);
    expect(made()).toBe(1);
  });
});

describe('a context that is kept and read later', () => {
  it('shows the caller whose handler reads it, not the one it was made for', async () => {
    const { tool, made } = await serve((mcp, _, context) => {
      mcp.registerTool('quiet', {}, () => text('quiet'));
      mcp.registerTool('who', {}, async () => {
        const before = nameOf(context.authInfo);
        await new Promise(setImmediate);
        const { authInfo, requestInfo } = context;
        return text([before, nameOf(authInfo), requestInfo?.headers.get('x-user')].join(' '));
      });
    });
    await tool('quiet', { user: 'first' });
    expect(await tool('who', { user: 'ann' })).toBe('ann ann ann');
    expect(await tool('who', { user: 'bob' })).toBe('bob bob bob');
    expect(await tool('who')).toBe('nobody nobody ');
    expect(made()).toBe(1);
  });

  it('spoils the instance when its first request reads it', async () => {
    const { tool } = await serve(
      (mcp, made, context) =>
        void mcp.registerTool('who', {}, () => text(`${nameOf(context.authInfo)} ${made}`)),
    );
    expect(await tool('who', { user: 'ann' })).toBe('ann 1');
    expect(await tool('who', { user: 'bob' })).toBe('bob 2');
  });

  it('shows nobody to code that belongs to no request', async () => {
    let kept: McpRequestContext | undefined;
    const { tool } = await serve((mcp, _, context) => {
      kept = context;
      mcp.registerTool('any', {}, () => text('any'));
    });
    await tool('any', { user: 'ann' });
    await tool('any', { user: 'bob' });
    expect(() => kept?.authInfo).toThrow(/after its request was over/);
  });
});

describe('200 callers at once', () => {
  it('see themselves and nobody else, though some hang and some hang up', async () => {
    const entered = { count: 0, all: gate() };
    const hangers = 20;
    const { tool, begin, made } = await serve((mcp, _, context) => {
      mcp.registerTool('quiet', {}, () => text('quiet'));
      mcp.registerTool('hang', {}, () => {
        entered.count += 1;
        if (entered.count === hangers) entered.all.open();
        return new Promise(() => {});
      });
      mcp.registerTool('who', {}, async (ctx) => {
        const seen = (): unknown[] => [
          nameOf(ctx.http?.authInfo),
          ctx.http?.req?.headers.get('x-user'),
          ctx.mcpReq.id,
          nameOf(context.authInfo),
        ];
        const before = seen();
        // Others come and go here.
        for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
        return text([...new Set([...before, ...seen()])].join(' '));
      });
    });
    const users = Array.from({ length: 200 }, (_, at) => `user-${at}`);
    await Promise.all(users.slice(0, 20).map((user) => tool('quiet', { user })));
    const before = made();
    for (let turn = 0; turn < 2; turn += 1) {
      entered.count = 0;
      entered.all = gate();
      const hanging = Array.from({ length: hangers }, (_, at) => begin('hang', { user: `hanger-${at}` }));
      const answers = Promise.all(users.map((user) => tool('who', { user, id: user })));
      await entered.all.opened;
      for (const request of hanging.slice(0, hangers / 2)) request.destroy();
      expect(await answers).toEqual(users);
      for (const request of hanging) request.destroy();
    }
    // Many were served by instances that served others before.
    expect(made() - before).toBeLessThan(2 * (users.length + hangers));
  });
});
