import { describe, expect, it } from 'vitest';
import { drive, type DrivePolicy, type FormQuestion, type RetryPreview } from '../../src/client/index.js';
import { CALL, failureOf, filling, optionsWith, testClock, URL_OF_SERVER } from './harness.js';
import { connect2025, gate, TEXT } from './legacy-harness.js';

/** A server that asks `questions` one after another, and counts what was answered. */
async function asking(...questions: readonly string[]) {
  const answered: string[] = [];
  const { client } = await connect2025((mcp) => {
    mcp.registerTool('t', {}, async (ctx) => {
      for (const message of questions) {
        const { action } = await ctx.mcpReq.elicitInput({ message, requestedSchema: TEXT });
        answered.push(`${message} ${action}`);
      }
      return { content: [] };
    });
  });
  return { client, answered };
}

const withPolicy = (policy: DrivePolicy) => optionsWith({ policy });

describe('beforeRetry on a connection of 2025-11-25', () => {
  it('sees each answer before it leaves, as a round', async () => {
    const { client, answered } = await asking('One?', 'Two?');
    const seen: RetryPreview[] = [];
    const before: number[] = [];
    const beforeRetry = (preview: RetryPreview) => {
      expect(Object.isFrozen(preview.answers)).toBe(true);
      seen.push(preview);
      before.push(answered.length);
    };
    await drive(client, CALL, withPolicy({ beforeRetry }));
    expect(before).toEqual([0, 1]);
    const answer = { action: 'accept', content: { text: 'x' } };
    expect(seen).toMatchObject([
      { request: CALL, round: 1, questions: [{ key: '1', message: 'One?' }], answers: [['1', answer]] },
      { request: CALL, round: 2, questions: [{ key: '2', message: 'Two?' }], answers: [['2', answer]] },
    ]);
    expect(seen[0]?.server).toMatchObject({ url: URL_OF_SERVER });
  });

  it.each<[string, NonNullable<DrivePolicy['beforeRetry']>]>([
    [`by 'stop'`, () => 'stop'],
    ['by throwing', () => Promise.reject(new Error('no'))],
  ])('can stop it %s: the answer does not leave', async (_, beforeRetry) => {
    const { client, answered } = await asking('One?');
    const failure = await failureOf(drive(client, CALL, withPolicy({ beforeRetry })));
    expect(failure).toMatchObject({ code: 'call_stopped', by: 'beforeRetry' });
    expect(answered).toEqual([]);
  });
});

describe('maxRounds on a connection of 2025-11-25', () => {
  it('of one allows calls that ask nothing', async () => {
    const quiet = await asking();
    expect((await drive(quiet.client, CALL, withPolicy({ maxRounds: 1 }))).content).toEqual([]);
    const { client, answered } = await asking('One?');
    const asked: FormQuestion[] = [];
    const options = optionsWith({ policy: { maxRounds: 1 }, handlers: filling(asked) });
    expect(await failureOf(drive(client, CALL, options))).toMatchObject({ bound: 'maxRounds', limit: 1 });
    expect(asked).toEqual([]);
    expect(answered).toEqual([]);
  });

  it('counts each question as a round', async () => {
    const two = await asking('One?', 'Two?');
    await drive(two.client, CALL, withPolicy({ maxRounds: 3 }));
    expect(two.answered).toHaveLength(2);
    const three = await asking('One?', 'Two?', 'Three?');
    expect(await failureOf(drive(three.client, CALL, withPolicy({ maxRounds: 3 })))).toMatchObject({
      bound: 'maxRounds',
      limit: 3,
    });
    expect(three.answered).toEqual(['One? accept', 'Two? accept']);
  });
});

describe('the time-out on a connection of 2025-11-25', () => {
  /** A server that sends progress whenever the test says so, and ends when it is told. */
  async function working() {
    const [started, end] = [gate(), gate()];
    let report: () => Promise<void> = async () => undefined;
    const { client } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, async (ctx) => {
        const progressToken = ctx.mcpReq._meta?.progressToken;
        if (progressToken === undefined) throw new Error('no progress wanted');
        let progress = 0;
        report = async () => {
          progress += 1;
          await ctx.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress },
          });
        };
        started.open();
        await end.opened;
        return { content: [] };
      });
    });
    return { client, started: started.opened, end: end.open, report: () => report() };
  }

  const settle = () => new Promise(setImmediate);

  it('begins anew with each progress, where the host says so (resetTimeoutOnProgress)', async () => {
    const { client, started, report, end } = await working();
    const clock = testClock();
    const seen: number[] = [];
    const request = {
      timeout: 10_000,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress }: { progress: number }) => void seen.push(progress),
    };
    const call = drive(client, CALL, optionsWith({ clock, request }));
    await started;
    for (let i = 0; i < 3; i += 1) {
      clock.advance(8000);
      await report();
      await settle();
    }
    end();
    expect((await call).content).toEqual([]);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('does not, where the host does not say so', async () => {
    const { client, started, report } = await working();
    const clock = testClock();
    const request = { timeout: 10_000, onprogress: () => undefined };
    const call = failureOf(drive(client, CALL, optionsWith({ clock, request })));
    await started;
    clock.advance(8000);
    await report();
    await settle();
    clock.advance(8000);
    expect(await call).toMatchObject({ bound: 'timeout', limit: 10_000 });
  });

  it('has a ceiling that no progress lifts (maxTotalTimeout, MRTR-C-14)', async () => {
    const { client, started, report } = await working();
    const clock = testClock();
    const request = {
      timeout: 10_000,
      maxTotalTimeout: 20_000,
      resetTimeoutOnProgress: true,
      onprogress: () => undefined,
    };
    const call = failureOf(drive(client, CALL, optionsWith({ clock, request })));
    await started;
    for (let i = 0; i < 3; i += 1) {
      clock.advance(7000);
      await report();
      await settle();
    }
    expect(await call).toMatchObject({ bound: 'timeout', limit: 20_000 });
  });

  it('leaves no timer behind', async () => {
    let running = 0;
    const clock = {
      now: () => 0,
      sleep: (_ms: number, signal: AbortSignal) =>
        new Promise<void>((_, reject) => {
          running += 1;
          signal.addEventListener('abort', () => {
            running -= 1;
            reject(new Error('stopped'));
          });
        }),
    };
    const [answer, isOver] = [gate(), gate()];
    const { client } = await connect2025((mcp) => {
      mcp.registerTool('t', {}, (ctx) => {
        // A server that does not wait for what it asks.
        ctx.mcpReq.elicitInput({ message: 'One?', requestedSchema: TEXT }).catch(() => isOver.open());
        return { content: [] };
      });
    });
    const form = async () => {
      await answer.opened;
      return { action: 'accept', content: { text: 'x' } } as const;
    };
    await drive(client, CALL, optionsWith({ clock, handlers: { form } }));
    answer.open();
    await isOver.opened;
    await settle();
    expect(running).toBe(0);
  });
});
