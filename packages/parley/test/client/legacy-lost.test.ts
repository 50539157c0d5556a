import { SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  ConnectionBusy,
  drive,
  flowOf,
  RetryUnknown,
  type Answers,
  type FormQuestion,
} from '../../src/client/index.js';
import { CALL, failureOf, optionsWith, testClock } from './harness.js';
import { connect2025, gate, TEXT } from './legacy-harness.js';
import { streaming } from './servers/streams-of-2025.js';

const question = {
  id: 'q1',
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: TEXT },
};

describe('a connection of 2025-11-25 that closes', () => {
  it('after an answer: of unknown outcome, without a flow, as there is nothing to resume', async () => {
    let worked = 0;
    const { client } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, async (ctx) => {
        await ctx.mcpReq.elicitInput({ message: 'Sure?', requestedSchema: TEXT });
        worked += 1;
        await mcp.close();
        return { content: [] };
      });
    });
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(worked).toBe(1);
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(failure).toMatchObject({ round: 2, cause: { code: SdkErrorCode.ConnectionClosed } });
    expect(failure.message).toContain('before the call is made again');
    expect(flowOf(failure)).toBeUndefined();
  });

  it('while somebody is asked for a second time: of unknown outcome too', async () => {
    const { client, mcp } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, async (ctx) => {
        await ctx.mcpReq.elicitInput({ message: 'One?', requestedSchema: TEXT });
        await ctx.mcpReq.elicitInput({ message: 'Two?', requestedSchema: TEXT });
        return { content: [] };
      });
    });
    const form = async ({ message }: { message: string }) => {
      if (message === 'Two?') await mcp.close();
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    expect(await failureOf(drive(client, CALL, optionsWith({ handlers: { form } })))).toBeInstanceOf(
      RetryUnknown,
    );
  });

  it('before any answer: the error of the client', async () => {
    const { client } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, async () => {
        await mcp.close();
        return { content: [] };
      });
    });
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({
      code: SdkErrorCode.ConnectionClosed,
    });
  });

  it('while others wait for their turn: nothing was sent for them', async () => {
    const { client, mcp, received } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, () => new Promise(() => undefined));
    });
    const calls = [1, 2].map(() => failureOf(drive(client, CALL, optionsWith())));
    while (!received.some((message) => 'method' in message && message.method === 'tools/call')) {
      await new Promise(setImmediate);
    }
    await mcp.close();
    const closed = { code: SdkErrorCode.ConnectionClosed };
    expect(await Promise.all(calls)).toMatchObject([closed, closed]);
    expect(received.filter((message) => 'method' in message && message.method === 'tools/call')).toHaveLength(
      1,
    );
  });
});

describe('a server of 2025-11-25 that takes too long', () => {
  /** One that asks `asks` times and then says nothing more. */
  async function hanging(asks: number) {
    const hangs = gate();
    const { client, received } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, async (ctx) => {
        for (let i = 0; i < asks; i += 1) {
          await ctx.mcpReq.elicitInput({ message: `${i}?`, requestedSchema: TEXT });
        }
        hangs.open();
        return new Promise(() => undefined);
      });
    });
    return { client, received, hangs: hangs.opened };
  }

  it('after an answer: of unknown outcome, and cancelled (TRAN-16)', async () => {
    const { client, received, hangs } = await hanging(1);
    const clock = testClock();
    const call = failureOf(drive(client, CALL, optionsWith({ clock })));
    await hangs;
    clock.advance(60_000);
    const failure = await call;
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(failure.cause).toMatchObject({ code: 'drive_limit', bound: 'timeout', limit: 60_000 });
    expect(received.at(-1)).toMatchObject({ method: 'notifications/cancelled' });
  });

  it('is cancelled by the caller, after an answer: of unknown outcome', async () => {
    const { client, hangs } = await hanging(1);
    const controller = new AbortController();
    const call = failureOf(drive(client, CALL, optionsWith({ signal: controller.signal })));
    await hangs;
    controller.abort();
    const failure = await call;
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(failure.cause).toMatchObject({ code: 'call_stopped' });
  });

  it('is cancelled while somebody is asked for a second time: no answer is under way', async () => {
    const { client } = await hanging(2);
    const controller = new AbortController();
    const form = ({ key }: FormQuestion): Answers['form'] | Promise<never> => {
      if (key === '1') return { action: 'accept', content: { text: 'x' } };
      controller.abort();
      return new Promise(() => undefined);
    };
    const options = optionsWith({ handlers: { form }, signal: controller.signal });
    expect(await failureOf(drive(client, CALL, options))).toMatchObject({ code: 'call_stopped' });
  });
});

describe('a stream of 2025-11-25', () => {
  it('that ends without a response is not waited for', async () => {
    const before = await streaming({ call: (stream) => stream.end() });
    expect(await failureOf(drive(before.client, CALL, optionsWith()))).toMatchObject({
      code: SdkErrorCode.ConnectionClosed,
    });
    // The server may go on, and may ask elsewhere.
    expect(await failureOf(drive(before.client, CALL, optionsWith()))).toBeInstanceOf(ConnectionBusy);

    const after = await streaming({
      call: (stream) => stream.write(question),
      answer: (stream) => stream.end(),
    });
    const failure = await failureOf(drive(after.client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(failure.cause).toMatchObject({ code: SdkErrorCode.ConnectionClosed });
  });

  it('that ends with its response is a result', async () => {
    const { client } = await streaming({
      call: (stream) => {
        stream.write({ id: stream.id, result: { content: [] } });
        stream.end();
      },
    });
    for (let i = 0; i < 2; i += 1) {
      expect((await drive(client, CALL, optionsWith())).content).toEqual([]);
    }
  });

  it('whose server does not take the answer is not waited for', async () => {
    const { client } = await streaming({
      call: (stream) => stream.write(question),
      answer: () => new Response('no such session', { status: 404 }),
    });
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toMatchObject({ status: 404 });
  });

  it('whose server may have taken the answer is of unknown outcome', async () => {
    const { client } = await streaming({
      call: (stream) => stream.write(question),
      answer: () => new Response('bad gateway', { status: 502 }),
    });
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(failure.cause).toMatchObject({ status: 502 });
  });

  it('that HTTP turned away before it was there leaves the connection fit for use', async () => {
    const { client } = await streaming({
      call: (stream, nth) => {
        if (nth === 1) return new Response('slow down', { status: 429 });
        stream.write({ id: stream.id, result: { content: [] } });
        stream.end();
      },
    });
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({ status: 429 });
    expect((await drive(client, CALL, optionsWith())).content).toEqual([]);
  });
});
