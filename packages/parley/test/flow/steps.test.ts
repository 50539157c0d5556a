import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { NotJson, StepFailed } from '../../src/errors.js';
import type { Flow } from '../../src/flow/index.js';
import { rehearse } from '../../src/testing/index.js';
import { askText, nextRound, runRound, testHost, turns } from './host.js';

const answers = { q: { text: 'yes' }, r: { text: 'yes' } };

/** What a flow saw in each of its rounds; a question comes after it, so that it is seen live and on replay. */
async function seenInEachRound<T>(see: (flow: Flow) => Promise<T>): Promise<T[]> {
  const seen: T[] = [];
  const { outcome } = await rehearse(
    async (flow: Flow) => {
      seen.push(await see(flow));
      await askText(flow, 'q');
      await askText(flow, 'r');
    },
    { answers, rounds: { 2: { instance: 'b' }, 3: { instance: 'c' } } },
  );
  expect(outcome).toEqual({ type: 'completed', value: undefined });
  expect(seen).toHaveLength(3);
  return seen;
}

const settled = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe('a step', () => {
  it('runs once in the life of a flow, and gives the same in each round (MRTR-S-16)', async () => {
    let runs = 0;
    const seen = await seenInEachRound((flow) => flow.step('build', () => ({ id: (runs += 1) })));
    expect(runs).toBe(1);
    expect(seen).toEqual([{ id: 1 }, { id: 1 }, { id: 1 }]);
  });

  it('gives live the parsed copy that a replay gives', async () => {
    const seen = await seenInEachRound((flow) =>
      flow.step('build', () => ({ zero: -0, list: [1], nothing: null })),
    );
    for (const value of seen) expect(value).toStrictEqual({ zero: 0, list: [1], nothing: null });
  });

  it('gives nothing when it returned nothing, and runs once then too', async () => {
    let runs = 0;
    const seen = await seenInEachRound((flow) => flow.step('notify', () => void (runs += 1)));
    expect(runs).toBe(1);
    expect(seen).toEqual([undefined, undefined, undefined]);
  });

  it.each([null, false, 0, ''])('tells %j from nothing', async (value) => {
    expect(await seenInEachRound((flow) => flow.step<typeof value>('empty', () => value))).toEqual([
      value,
      value,
      value,
    ]);
  });

  it('records what it returned, not what the handler makes of it', async () => {
    const seen = await seenInEachRound(async (flow) => {
      const list = await flow.step('list', () => [3, 1, 2]);
      const before = [...list];
      list.reverse();
      list.push(4);
      return before;
    });
    expect(seen).toEqual([
      [3, 1, 2],
      [3, 1, 2],
      [3, 1, 2],
    ]);
  });

  it('records what it returned, not what the step makes of it later', async () => {
    const kept = { n: 1 };
    const seen = await seenInEachRound(async (flow) => {
      const value = await flow.step('kept', () => kept);
      kept.n += 1;
      return value.n;
    });
    expect(seen).toEqual([1, 1, 1]);
  });
});

describe('a step that throws', () => {
  const failing = (reason: unknown) => (flow: Flow) =>
    settled(flow.step('build', () => Promise.reject(reason as Error)));

  it('throws the same StepFailed live and on each replay, and runs once', async () => {
    let runs = 0;
    const seen = await seenInEachRound((flow) =>
      settled(
        flow.step('build', () => {
          runs += 1;
          throw new RangeError('out of range');
        }),
      ),
    );
    expect(runs).toBe(1);
    for (const error of seen) {
      expect(error).toBeInstanceOf(StepFailed);
      expect(error).toMatchObject({
        code: 'step_failed',
        key: 'build',
        reasonName: 'RangeError',
        reason: 'out of range',
        message: `Step 'build' failed: out of range`,
      });
    }
    expect((seen[0] as StepFailed).cause).toBeInstanceOf(RangeError);
    expect((seen[1] as StepFailed).cause).toBeUndefined();
  });

  it('cuts long messages, the same live and on replay', async () => {
    const seen = await seenInEachRound(failing(new Error('x'.repeat(5_000))));
    for (const error of seen) expect((error as StepFailed).reason).toBe('x'.repeat(1_000));
  });

  it.each([
    ['a text', 'oops', 'oops'],
    ['a number', 5, '5'],
    ['undefined', undefined, 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
  ])('says so when it throws %s', async (_, thrown, reason) => {
    const seen = await seenInEachRound(failing(thrown));
    for (const error of seen)
      expect(error).toMatchObject({ code: 'step_failed', reasonName: 'Error', reason });
  });

  it.each([
    ['an object without a prototype', Object.create(null)],
    ['an error whose message is no text', Object.assign(new Error('x'), { message: { code: 5 } })],
    ['an error without a message', Object.assign(new Error('x'), { message: undefined })],
    [
      'what cannot be turned into a text',
      {
        toString: () => {
          throw new Error('no');
        },
      },
    ],
  ])('does not hang or crash the process when it throws %s', async (_, thrown) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', note);
    try {
      const outcome = await Promise.race([
        runRound((flow) => flow.step('build', () => Promise.reject(thrown as Error))),
        turns(20).then(() => 'hangs'),
      ]);
      expect(outcome).toMatchObject({ type: 'failed', error: { code: 'step_failed', key: 'build' } });
      expect(unhandled).toEqual([]);
    } finally {
      process.removeListener('unhandledRejection', note);
      for (const listener of listeners) process.on('unhandledRejection', listener);
    }
  });

  it('takes a foreign error with the code of one of ours for what it is', async () => {
    const seen = await seenInEachRound(failing(Object.assign(new Error('theirs'), { code: 'not_json' })));
    for (const error of seen) expect(error).toMatchObject({ code: 'step_failed', reason: 'theirs' });
  });

  it('ends the flow when nobody catches it', async () => {
    const { outcome } = await rehearse((flow: Flow) =>
      flow.step('build', () => Promise.reject(new Error('no'))),
    );
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'step_failed', key: 'build' } });
  });

  it('does not end the process when nobody awaits it', async () => {
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        void flow.step('left alone', () => Promise.reject(new Error('no')));
        void flow.step('left alone too', () => {
          throw new Error('no');
        });
        return await askText(flow, 'q');
      },
      { answers },
    );
    await turns(3);
    expect(outcome).toEqual({ type: 'completed', value: 'yes' });
  });
});

describe('a step whose result is not JSON', () => {
  it.each<[string, unknown, string]>([
    ['a function', () => 1, 'result'],
    ['a Date inside', { list: [new Date(0)] }, 'result.list[0]'],
    ['undefined inside', { a: undefined }, 'result.a'],
  ])('tells of %s, naming step and path', async (_, value, path) => {
    const { outcome } = await rehearse(async (flow: Flow) => {
      await flow.step('build', () => value as null);
    });
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'not_json', key: 'build', path } });
    expect(outcome.type === 'failed' && outcome.error).toBeInstanceOf(NotJson);
  });

  it('throws NotJson in each round when it is caught', async () => {
    const seen = await seenInEachRound((flow) => settled(flow.step('build', () => 1n as unknown as number)));
    for (const error of seen) expect(error).toBeInstanceOf(NotJson);
  });
});

describe("a step's signal", () => {
  it('aborts when the client hangs up, and the outcome is the reason', async () => {
    const client = new AbortController();
    let signal: AbortSignal | undefined;
    const running = runRound(
      (flow) =>
        flow.step('slow', async (context) => {
          signal = context.signal;
          await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
        }),
      { signal: client.signal },
    );
    await turns(2);
    expect(signal?.aborted).toBe(false);
    client.abort(new Error('hung up'));
    expect(signal?.aborted).toBe(true);
    expect(await running).toMatchObject({ type: 'failed', error: { message: 'hung up' } });
  });
});

describe('real I/O in steps', () => {
  it('holds the round open until it is done', async () => {
    const { outcome, rounds } = await rehearse(
      async (flow: Flow) => {
        const [name, size, text] = await Promise.all([
          askText(flow, 'q'),
          flow.step('read', async () => (await readFile(new URL(import.meta.url))).length),
          flow.step('turns', async () => {
            await turns(9);
            return 'done';
          }),
        ]);
        return [name, size > 0, text];
      },
      { answers },
    );
    expect(outcome).toEqual({ type: 'completed', value: ['yes', true, 'done'] });
    expect(rounds.map((round) => round.journal.map((entry) => entry.type))).toEqual([
      ['step', 'step'],
      ['step', 'step', 'answer'],
    ]);
  });

  it('keeps the order in which steps were done, not the order in which they were called', async () => {
    const order: string[][] = [];
    const handler = async (flow: Flow): Promise<void> => {
      const round: string[] = [];
      order.push(round);
      await Promise.all(
        [5, 1, 3].map(async (count) => {
          await flow.step(`after ${count}`, () => turns(count));
          round.push(`after ${count}`);
        }),
      );
      await askText(flow, 'q');
    };
    await rehearse(handler, { answers });
    expect(order).toEqual([
      ['after 1', 'after 3', 'after 5'],
      ['after 1', 'after 3', 'after 5'],
    ]);
  });

  it('may run again when the state of an earlier round is presented again, and only then (STATE-09)', async () => {
    let runs = 0;
    const handler = async (flow: Flow): Promise<number> => {
      await askText(flow, 'q');
      const run = await flow.step('work', () => (runs += 1));
      await askText(flow, 'r');
      return run;
    };
    const { outcome, replays } = await rehearse(handler, {
      answers,
      rounds: { 2: { repeat: true }, 3: { repeat: true } },
    });
    expect(runs).toBe(2);
    expect(outcome).toEqual({ type: 'completed', value: 1 });
    expect(replays).toEqual([
      { type: 'unanswered', keys: ['r'] },
      { type: 'completed', value: 1 },
    ]);
  });

  it('is recorded only when it ends within its round', async () => {
    const host = testHost();
    const first = await runRound(
      async (flow) => {
        await flow.step('a', () => 1);
        await askText(flow, 'q');
      },
      { host },
    );
    expect(first.journal).toHaveLength(1);
    const second = await runRound((flow) => flow.step('a', () => 2), nextRound(first));
    expect(second).toMatchObject({ type: 'completed', value: 1 });
  });
});
