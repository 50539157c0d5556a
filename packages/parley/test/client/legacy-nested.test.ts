import { describe, expect, it } from 'vitest';
import { drive, type DriveOptions } from '../../src/client/index.js';
import { CALL, failureOf, optionsWith } from './harness.js';
import { connect2025 } from './legacy-harness.js';

const WRITTEN = {
  action: 'accept',
  result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } },
} as const;

const INNER = { method: 'tools/call', params: { name: 'inner' } } as const;

/** A server whose tool `t` wants something from a model. */
async function sampling() {
  const { client } = await connect2025(
    (mcp) => {
      mcp.registerTool('t', {}, async (ctx) => {
        await ctx.mcpReq.requestSampling({ messages: [], maxTokens: 5 });
        return { content: [] };
      });
      mcp.registerTool('inner', {}, () => ({ content: [{ type: 'text', text: 'inner' }] }));
    },
    { sampling: {} },
  );
  return client;
}

describe('a handler that drives a call on the connection that its own call keeps', () => {
  it('fails, rather than wait for itself', async () => {
    const client = await sampling();
    // A model that uses a tool: the ordinary reason for sampling.
    const options: DriveOptions = optionsWith({
      handlers: {
        sampling: async () => {
          await drive(client, INNER, { ...options, handlers: {} });
          return WRITTEN;
        },
      },
    });
    const failure = await failureOf(drive(client, CALL, options));
    expect(failure).toMatchObject({ code: 'unanswered', cause: { code: 'configuration' } });
    expect(String(failure.cause)).toContain('a client of its own');
  });

  it('also by way of a call on another connection, and of beforeRetry', async () => {
    const [outer, other] = [await sampling(), await sampling()];
    const inTheMiddle = optionsWith({
      handlers: { sampling: () => WRITTEN },
      policy: { beforeRetry: () => drive(outer, INNER, optionsWith()).then(() => undefined) },
    });
    const handlers = {
      sampling: async () => {
        await drive(other, CALL, inTheMiddle);
        return WRITTEN;
      },
    };
    expect(await failureOf(drive(outer, CALL, optionsWith({ handlers })))).toMatchObject({
      code: 'unanswered',
      cause: { code: 'call_stopped', cause: { code: 'configuration' } },
    });
  });

  it('works on a client of its own', async () => {
    const [client, other] = [await sampling(), await sampling()];
    const texts: unknown[] = [];
    const handlers = {
      sampling: async () => {
        texts.push((await drive(other, INNER, optionsWith({ handlers: {} }))).content);
        return WRITTEN;
      },
    };
    await drive(client, CALL, optionsWith({ handlers }));
    expect(texts).toMatchObject([[{ text: 'inner' }]]);
  });

  it('is not taken for what a handler began and left running', async () => {
    const client = await sampling();
    let later: Promise<unknown> = Promise.resolve();
    let isOver: () => void = () => undefined;
    const over = new Promise<void>((resolve) => void (isOver = resolve));
    const handlers = {
      sampling: () => {
        later = over.then(() => drive(client, INNER, optionsWith()));
        return WRITTEN;
      },
    };
    await drive(client, CALL, optionsWith({ handlers }));
    isOver();
    expect(await later).toMatchObject({ content: [{ text: 'inner' }] });
  });
});
