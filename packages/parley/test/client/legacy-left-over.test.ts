import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { ConnectionBusy, drive, type AskContext, type FormQuestion } from '../../src/client/index.js';
import { failureOf, optionsWith, testClock } from './harness.js';
import { connect2025, connectPair, gate, TEXT } from './legacy-harness.js';

const call = (name: string) => ({ method: 'tools/call', params: { name } }) as const;

const SURE = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;

/**
 * A server that was written without a thought for cancellation, as most are: `wipe` asks when the test says so, and
 * does its work when somebody says yes.
 */
async function wiping() {
  const [started, goOn, over] = [gate(), gate(), gate()];
  const seen = { answer: undefined as unknown, wiped: false };
  const connection = await connect2025((mcp) => {
    mcp.registerTool('wipe', {}, async () => {
      started.open();
      await goOn.opened;
      const asking = mcp.server.elicitInput({ message: 'Really?', requestedSchema: SURE });
      seen.answer = await asking.catch((error: unknown) => error);
      seen.wiped = (seen.answer as { action?: unknown }).action === 'accept';
      over.open();
      return { content: [] };
    });
    mcp.registerTool('greet', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }));
  });
  const shown: string[] = [];
  const form = ({ message }: FormQuestion, { request }: AskContext) => {
    shown.push(`${message} (for ${'name' in request.params ? request.params.name : ''})`);
    return { action: 'accept', content: { sure: true } } as const;
  };
  return { ...connection, seen, shown, handlers: { form }, started, goOn, over };
}

/** The names of the tools that were called. */
function callsIn(messages: readonly JSONRPCMessage[]): unknown[] {
  return messages.flatMap((message) =>
    'method' in message && message.method === 'tools/call' ? [message.params?.['name']] : [],
  );
}

/** Cancels `wipe` while it works. */
async function cancelled() {
  const server = await wiping();
  const controller = new AbortController();
  const wipe = failureOf(
    drive(server.client, call('wipe'), optionsWith({ handlers: server.handlers, signal: controller.signal })),
  );
  await server.started.opened;
  controller.abort();
  expect(await wipe).toMatchObject({ code: 'call_stopped' });
  return server;
}

describe('a call of 2025-11-25 that was cancelled here, and that the server goes on with', () => {
  it('asks nobody: its question is refused', async () => {
    const { goOn, over, shown, seen } = await cancelled();
    goOn.open();
    await over.opened;
    expect(seen).toMatchObject({ answer: { code: -32_601 }, wiped: false });
    expect(shown).toEqual([]);
  });

  it('keeps the next call from beginning, so that its question is not put to whom it is not for', async () => {
    const { client, goOn, over, shown, seen, handlers, received } = await cancelled();
    const failure = await failureOf(drive(client, call('greet'), optionsWith({ handlers })));
    expect(failure).toBeInstanceOf(ConnectionBusy);
    expect(callsIn(received)).toEqual(['wipe']);
    goOn.open();
    await over.opened;
    expect(shown).toEqual([]);
    expect(seen.wiped).toBe(false);
  });

  it('and those that were waiting for their turn', async () => {
    const { client, started, handlers, shown } = await wiping();
    const controller = new AbortController();
    const options = optionsWith({ handlers });
    const wipe = failureOf(drive(client, call('wipe'), { ...options, signal: controller.signal }));
    const greet = failureOf(drive(client, call('greet'), options));
    await started.opened;
    controller.abort();
    await wipe;
    expect(await greet).toBeInstanceOf(ConnectionBusy);
    expect(shown).toEqual([]);
  });

  it('until the client connects anew', async () => {
    const { client, mcp, handlers } = await cancelled();
    await client.close();
    await connectPair(client, mcp);
    const result = await drive(client, call('greet'), optionsWith({ handlers }));
    expect(result.content).toMatchObject([{ text: 'hello' }]);
  });

  it('or until its response comes after all, which is ignored (TRAN-05)', async () => {
    // The official server never answers what was cancelled; others do.
    const { client, mcp, received } = await connect2025((mcp) => {
      mcp.registerTool('slow', {}, () => new Promise(() => undefined));
      mcp.registerTool('greet', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }));
    });
    const controller = new AbortController();
    const slow = failureOf(drive(client, call('slow'), optionsWith({ signal: controller.signal })));
    while (callsIn(received).length === 0) await new Promise(setImmediate);
    controller.abort();
    await slow;
    const request = received.find((message) => 'method' in message && message.method === 'tools/call');
    const id = request !== undefined && 'id' in request ? Number(request.id) : NaN;
    expect(received.at(-1)).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: id, reason: 'The call was cancelled.' },
    });
    expect(await failureOf(drive(client, call('greet'), optionsWith()))).toBeInstanceOf(ConnectionBusy);
    await mcp.server.transport?.send({ jsonrpc: '2.0', id, result: { content: [] } });
    expect((await drive(client, call('greet'), optionsWith())).content).toMatchObject([{ text: 'hello' }]);
  });
});

describe('a call of 2025-11-25 that failed over a question', () => {
  /** A server that tries again for as long as it is told that there is no answer. */
  async function stubborn() {
    const [refused, end] = [gate(), gate()];
    const { client, received } = await connect2025((mcp) => {
      mcp.registerTool('ask', {}, async (ctx) => {
        await ctx.mcpReq.elicitInput({ message: 'Sure?', requestedSchema: TEXT }).catch(() => undefined);
        refused.open();
        await end.opened;
        return { content: [] };
      });
      mcp.registerTool('greet', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }));
    });
    const form = () => Promise.reject(new Error('no'));
    return { client, received, handlers: { form }, refused, end };
  }

  it('is over at once; the next one begins when the server is done with it, too', async () => {
    const { client, received, handlers, refused, end } = await stubborn();
    expect(await failureOf(drive(client, call('ask'), optionsWith({ handlers })))).toMatchObject({
      code: 'unanswered',
    });
    const greet = drive(client, call('greet'), optionsWith());
    await refused.opened;
    await new Promise(setImmediate);
    expect(callsIn(received)).toEqual(['ask']);
    end.open();
    expect((await greet).content).toMatchObject([{ text: 'hello' }]);
    expect(received).not.toContainEqual(expect.objectContaining({ method: 'notifications/cancelled' }));
  });

  it('is cancelled when the server takes longer than a request may (TRAN-16)', async () => {
    const { client, received, handlers, refused } = await stubborn();
    const clock = testClock();
    await failureOf(drive(client, call('ask'), optionsWith({ handlers, clock })));
    const greet = failureOf(drive(client, call('greet'), optionsWith()));
    await refused.opened;
    clock.advance(60_000);
    expect(await greet).toBeInstanceOf(ConnectionBusy);
    expect(received).toContainEqual(expect.objectContaining({ method: 'notifications/cancelled' }));
  });

  it('is not cancelled by a signal that aborts when it is over', async () => {
    const { client, received, handlers, refused, end } = await stubborn();
    const controller = new AbortController();
    await failureOf(drive(client, call('ask'), optionsWith({ handlers, signal: controller.signal })));
    controller.abort();
    await refused.opened;
    end.open();
    expect((await drive(client, call('greet'), optionsWith())).content).toHaveLength(1);
    expect(received).not.toContainEqual(expect.objectContaining({ method: 'notifications/cancelled' }));
  });
});
