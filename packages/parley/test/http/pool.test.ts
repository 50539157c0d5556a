import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { createPooledHandler } from '../../src/http/index.js';
import { draft, finish } from './faults.js';
import { gate, pooledServer, text, type Setup } from './pooled-server.js';
import { loopback } from './raw-request.js';

type Opened = Awaited<ReturnType<typeof pooledServer>>;

let server: Opened | undefined;

async function serve(...args: Parameters<typeof pooledServer>): Promise<Opened> {
  server = await pooledServer(...args);
  return server;
}

afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Tools that tell which instance serves, and wait until all have come. */
function meeting(count: number): Setup {
  let met = gate();
  let here = 0;
  return (mcp, made) => {
    let running = 0;
    mcp.registerTool('which', {}, () => text(made));
    mcp.registerTool('meet', {}, async () => {
      running += 1;
      here += 1;
      const { opened, open } = met;
      if (here === count) {
        here = 0;
        met = gate();
        open();
      }
      await opened;
      running -= 1;
      return text(running);
    });
  };
}

async function meet({ tool }: Opened, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => tool('meet')));
}

describe('instances', () => {
  it('serve one request after the other', async () => {
    const { tool, made } = await serve(meeting(1));
    const served = [await tool('which'), await tool('which'), await tool('which')];
    expect(served).toEqual(['1', '1', '1']);
    expect(made()).toBe(1);
  });

  it('never serve two requests at once (P2)', async () => {
    const opened = await serve(meeting(8));
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await meet(opened, 8)).toEqual(Array.from({ length: 8 }, () => '0'));
    }
    expect(opened.made()).toBe(8);
  });

  it('are kept up to maxIdle', async () => {
    const opened = await serve(meeting(3), { maxIdle: 1 });
    await meet(opened, 3);
    expect(opened.made()).toBe(3);
    await meet(opened, 3);
    expect(opened.made()).toBe(5);
  });

  it('are not kept at all with a maxIdle of 0', async () => {
    const { tool, made } = await serve(meeting(1), { maxIdle: 0 });
    await tool('which');
    expect(await tool('which')).toBe('2');
    expect(made()).toBe(2);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3'])('take no maxIdle of %s', (maxIdle) => {
    const factory = () => new McpServer({ name: 'test', version: '1.0.0' });
    expect(() => createPooledHandler(factory, { maxIdle: maxIdle as number })).toThrow(RangeError);
  });
});

describe('an instance is never used again (P3)', () => {
  it.each<[string, (mcp: McpServer) => void]>([
    ['registered a tool', (mcp) => void mcp.registerTool('new', {}, () => text(''))],
    [
      'registered a resource',
      (mcp) => void mcp.registerResource('new', 'test://new', {}, () => ({ contents: [] })),
    ],
    ['registered a prompt', (mcp) => void mcp.registerPrompt('new', {}, () => ({ messages: [] }))],
    ['told of a change itself', (mcp) => mcp.sendToolListChanged()],
  ])('whose handler %s', async (_, change) => {
    const { tool, send } = await serve((mcp, made) => {
      mcp.registerResource('old', 'test://old', {}, () => ({ contents: [] }));
      mcp.registerPrompt('old', {}, () => ({ messages: [] }));
      mcp.registerTool('which', {}, () => text(made));
      mcp.registerTool('change', {}, () => {
        change(mcp);
        return text(made);
      });
    });
    await send('change'); // served by the SDK's entry, and not taken over
    expect(await tool('which')).toBe('2');
    await send('change'); // served by the pool, and not put back
    expect(await tool('which')).toBe('3');
  });

  it('whose handler disabled, changed or removed a tool', async () => {
    const { tool } = await serve((mcp, made) => {
      const victim = mcp.registerTool('victim', {}, () => text(made));
      mcp.registerTool('disable', {}, () => text(String(victim.disable())));
      mcp.registerTool('update', {}, () => text(String(victim.update({ callback: () => text('changed') }))));
      mcp.registerTool('remove', {}, () => text(String(victim.remove())));
    });
    for (const [at, change] of ['disable', 'update', 'remove'].entries()) {
      expect(await tool('victim')).toBe(String(at + 1));
      await tool(change);
    }
    expect(await tool('victim')).toBe('4');
  });

  it('whose handler closed it', async () => {
    const { tool, send } = await serve((mcp, made) => {
      mcp.registerTool('which', {}, () => text(made));
      mcp.registerTool('close', {}, async () => {
        await mcp.close();
        return text('closed');
      });
    });
    await tool('which');
    expect((await send('close')).status).toBe(499);
    expect(await tool('which')).toBe('2');
  });

  it('whose factory set onclose: it is called after each request, as under the SDK', async () => {
    const closed: number[] = [];
    const { tool, made } = await serve((mcp, at) => {
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- of the SDK, where there is only this
      mcp.server.onclose = () => void closed.push(at);
      mcp.registerTool('which', {}, () => text(at));
    });
    expect([await tool('which'), await tool('which'), await tool('which')]).toEqual(['1', '2', '3']);
    expect(made()).toBe(3);
    expect(closed).toEqual([1, 2, 3]);
  });

  it('after refresh()', async () => {
    const { tool, handler } = await serve(meeting(1));
    expect(await tool('which')).toBe('1');
    handler.refresh();
    expect(await tool('which')).toBe('2');
    expect(await tool('which')).toBe('2');
  });

  it.each([
    ['its first request', 0],
    ['a later one', 1],
  ])('that serves %s while refresh() is called', async (_, before) => {
    const entered = gate();
    const hold = gate();
    const { tool, handler } = await serve((mcp, made) => {
      mcp.registerTool('which', {}, () => text(made));
      mcp.registerTool('hold', {}, async () => {
        entered.open();
        await hold.opened;
        return text(made);
      });
    });
    for (let at = 0; at < before; at += 1) await tool('which');
    const held = tool('hold');
    await entered.opened;
    handler.refresh();
    hold.open();
    expect(await held).toBe('1');
    expect(await tool('which')).toBe('2');
  });

  it.each(['toolsChanged', 'promptsChanged', 'resourcesChanged'] as const)(
    'after notify.%s()',
    async (change) => {
      const { tool, handler } = await serve(meeting(1));
      await tool('which');
      handler.notify[change]();
      expect(await tool('which')).toBe('2');
    },
  );

  it('but after notify.resourceUpdated() it is', async () => {
    const { tool, handler } = await serve(meeting(1));
    await tool('which');
    handler.notify.resourceUpdated('test://any');
    expect(await tool('which')).toBe('1');
  });
});

describe('a factory that gives one instance for all', () => {
  async function serveOne() {
    const entered = gate();
    const hold = gate();
    const mcp = new McpServer({ name: 'test', version: '1.0.0' });
    mcp.registerTool('echo', {}, () => text('echo'));
    mcp.registerTool('hold', {}, async () => {
      entered.open();
      await hold.opened;
      return text('held');
    });
    const opened = await loopback(createPooledHandler(() => mcp));
    const send = (name: string) =>
      opened.send(finish(draft({ method: 'tools/call', params: { name }, pooled: true })));
    return { entered, hold, send, close: () => opened.close() };
  }

  it('is served one request after the other', async () => {
    const { send, close } = await serveOne();
    for (let at = 0; at < 4; at += 1) expect((await send('echo')).status).toBe(200);
    await close();
  });

  it('is refused a second request at once, as by the SDK', async () => {
    const { entered, hold, send, close } = await serveOne();
    await send('echo');
    const held = send('hold');
    await entered.opened;
    expect((await send('echo')).status).toBe(500);
    hold.open();
    expect((await held).status).toBe(200);
    expect((await send('echo')).status).toBe(200);
    await close();
  });
});

describe('close()', () => {
  it('aborts what is being served, and answers what comes later with an error', async () => {
    const entered = gate();
    let reason: unknown;
    const { tool, send, begin, handler } = await serve((mcp) => {
      mcp.registerTool('echo', {}, () => text('echo'));
      mcp.registerTool('hang', {}, async ({ mcpReq: { signal } }) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
        });
        entered.open();
        return new Promise(() => {});
      });
    });
    await tool('echo');
    begin('hang');
    await entered.opened;
    await handler.close();
    expect(reason).toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect((await send('echo')).status).toBe(500);
  });
});
