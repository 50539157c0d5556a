import { describe, expect, it } from 'vitest';
import type { Flow } from '../../src/flow/index.js';
import { rehearse } from '../../src/testing/index.js';
import { accept, askText, keysOf, nextRound, runRound, suspended, testHost, turns } from './host.js';

/** Gives a value at the `count`-th check. */
function there(count: number): { check: () => { id: number } | undefined; checks: () => number } {
  let checks = 0;
  return { check: () => ((checks += 1) >= count ? { id: checks } : undefined), checks: () => checks };
}

describe('waitFor', () => {
  it('checks every so often, until there is a value, and records it', async () => {
    const { check, checks } = there(4);
    const { outcome, rounds } = await rehearse(
      async (flow: Flow) => {
        const started = flow.now();
        const value = await flow.waitFor('order', check, { every: 500, hold: 60_000 });
        const waited = flow.now() - started;
        await askText(flow, 'q');
        return { ...value, waited };
      },
      { answers: { q: { text: 'x' } } },
    );
    expect(outcome).toEqual({ type: 'completed', value: { id: 4, waited: 1_500 } });
    expect(checks()).toBe(4);
    expect(rounds).toHaveLength(2);
  });

  it.each([false, 0, '', 'x', []])('takes %j for a value', async (value) => {
    const { outcome } = await rehearse((flow: Flow) => flow.waitFor<unknown>('w', () => value));
    expect(outcome).toEqual({ type: 'completed', value });
  });

  it('answers a round with state and no question after `hold`, and goes on in the next', async () => {
    const { check, checks } = there(8);
    const { outcome, rounds } = await rehearse((flow: Flow) =>
      flow.waitFor('order', check, { every: 1_000, hold: 2_500 }),
    );
    expect(outcome).toEqual({ type: 'completed', value: { id: 8 } });
    expect(rounds.map((round) => round.questions)).toEqual([[], [], []]);
    expect(rounds.map((round) => round.stateBytes > 0)).toEqual([true, true, false]);
    expect(checks()).toBe(8);
  });

  it('looks once and lets the run rest, where a run may come back for nothing', async () => {
    const { check, checks } = there(9);
    const outcome = await runRound(
      (flow) => Promise.all([flow.waitFor('a', check, { every: 5_000 }), flow.waitFor('b', check)]),
      { looksOnce: true },
    );
    expect(outcome).toMatchObject({ type: 'suspended', questions: [], every: 1_000 });
    expect(checks()).toBe(2);
  });

  it.each([{ every: 2 ** 31 }, { hold: 2 ** 31 }])('refuses %j, which no timer takes', async (options) => {
    const outcome = await runRound((flow) => flow.waitFor('a', () => undefined, options));
    expect(outcome).toMatchObject({ type: 'failed', error: expect.any(RangeError) as unknown });
  });

  it('holds 20 seconds and checks each second by default', async () => {
    const { check, checks } = there(22);
    const { rounds } = await rehearse((flow: Flow) => flow.waitFor('order', check));
    expect(rounds).toHaveLength(2);
    expect(checks()).toBe(22);
  });

  it('checks once when `every` is longer than `hold`', async () => {
    const { check, checks } = there(3);
    const { rounds } = await rehearse((flow: Flow) => flow.waitFor('order', check, { every: 10, hold: 5 }));
    expect(rounds).toHaveLength(3);
    expect(checks()).toBe(3);
  });

  it('fails as StepFailed when a check throws, the same in later rounds', async () => {
    let checks = 0;
    const seen: unknown[] = [];
    await rehearse(
      async (flow: Flow) => {
        const failing = flow.waitFor('order', () => {
          checks += 1;
          throw new RangeError('no such order');
        });
        seen.push(await failing.catch((error: unknown) => error));
        await askText(flow, 'q');
      },
      { answers: { q: { text: 'x' } } },
    );
    expect(checks).toBe(1);
    expect(seen).toHaveLength(2);
    for (const error of seen)
      expect(error).toMatchObject({ code: 'step_failed', key: 'order', reasonName: 'RangeError' });
  });

  it('fails as NotJson when the value is none', async () => {
    const { outcome } = await rehearse((flow: Flow) =>
      flow.waitFor('order', () => ({ at: new Date(0) }) as unknown as string),
    );
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'not_json', key: 'order' } });
  });

  it('ends with TooManyRounds when the value never comes', async () => {
    const { outcome } = await rehearse(
      (flow: Flow) => flow.waitFor('order', (): string | undefined => undefined),
      {
        limits: { waits: 3 },
      },
    );
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'too_many_rounds' } });
  });
});

describe('waitFor beside other things', () => {
  it('lets questions go out while it polls, and is taken up in the next round', async () => {
    const scheduled: (() => void)[] = [];
    const scheduler = {
      ...testHost().scheduler,
      after: (_: number, callback: () => void) => {
        scheduled.push(callback);
        return () => void scheduled.splice(scheduled.indexOf(callback), 1);
      },
    };
    const { check, checks } = there(2);
    const handler = (flow: Flow<undefined>): Promise<unknown> =>
      Promise.all([flow.waitFor('order', check), askText(flow, 'q')]);
    const first = await runRound(handler, { host: testHost({ scheduler }) });
    expect(keysOf(first)).toEqual(['q']);
    expect(checks()).toBe(1);
    expect(scheduled).toEqual([]);
    const second = await runRound(handler, nextRound(first, { q: accept({ text: 'x' }) }));
    expect(second).toMatchObject({ type: 'completed', value: [{ id: 2 }, 'x'] });
  });

  it('waits for all waits before it answers a round without questions', async () => {
    const short = there(5);
    const long = there(3);
    const { outcome, rounds } = await rehearse((flow: Flow) =>
      Promise.all([
        flow.waitFor('short', short.check, { every: 1_000, hold: 1_000 }),
        flow.waitFor('long', long.check, { every: 1_000, hold: 60_000 }),
      ]),
    );
    expect(outcome).toEqual({ type: 'completed', value: [{ id: 5 }, { id: 3 }] });
    expect(rounds.length).toBeGreaterThan(1);
    expect(rounds[0]?.journal.map((entry) => entry.type)).toEqual(['wait']);
  });

  it('holds the round open while a check runs', async () => {
    const outcome = await runRound((flow) =>
      Promise.all([
        askText(flow, 'q'),
        flow.waitFor('slow', async () => {
          await turns(8);
          return 'there';
        }),
      ]),
    );
    expect(keysOf(outcome)).toEqual(['q']);
    expect(suspended(outcome).journal).toHaveLength(1);
  });

  it('polls no more once the run is over', async () => {
    let checks = 0;
    const cancelled: number[] = [];
    const scheduler = { ...testHost().scheduler, after: (ms: number) => () => void cancelled.push(ms) };
    await runRound(
      async (flow) => {
        void flow.waitFor('order', (): string | undefined => void (checks += 1), { every: 700 });
        await flow.step('work', () => turns(1));
      },
      { host: testHost({ scheduler }) },
    );
    expect(checks).toBe(1);
    expect(cancelled).toEqual([20_000, 700]);
  });

  it('sets no timer for a check that ends after the run', async () => {
    const set: number[] = [];
    const scheduler = { ...testHost().scheduler, after: (ms: number) => (set.push(ms), () => {}) };
    await runRound(
      async (flow) => {
        void flow.waitFor('order', () => turns(5).then(() => undefined), { every: 700 });
        await flow.step('work', () => turns(1));
      },
      { host: testHost({ scheduler }) },
    );
    await turns(8);
    expect(set).toEqual([20_000]);
  });

  it('tells a suspended run how soon the shortest wait wants to look again, questions or not', async () => {
    const immediately = testHost({
      scheduler: { ...testHost().scheduler, after: (_, callback) => (setImmediate(callback), () => {}) },
    });
    const wait = (flow: Flow<undefined>, every: number): Promise<unknown> =>
      flow.waitFor(`every ${every}`, () => undefined, { every, hold: every });
    const every = async (handler: (flow: Flow<undefined>) => Promise<unknown>): Promise<unknown> =>
      suspended(await runRound(handler, { host: immediately })).every;
    expect(await every((flow) => wait(flow, 300))).toBe(300);
    expect(await every((flow) => Promise.all([wait(flow, 300), wait(flow, 20), wait(flow, 100)]))).toBe(20);
    expect(await every((flow) => Promise.all([wait(flow, 300), askText(flow, 'q')]))).toBe(300);
    expect(await every((flow) => askText(flow, 'q'))).toBeUndefined();
    expect(
      await every(async (flow) => {
        await flow.waitFor('there', () => true, { every: 5 });
        await askText(flow, 'q');
      }),
    ).toBeUndefined();
  });

  it('loses or wins a race in every round alike', async () => {
    const winners: unknown[] = [];
    const { check } = there(3);
    await rehearse(
      async (flow: Flow) => {
        winners.push(
          await Promise.race([
            flow.waitFor('order', check).then(() => 'wait'),
            flow.step('work', () => turns(1)).then(() => 'step'),
          ]),
        );
        await askText(flow, 'q');
        await askText(flow, 'r');
      },
      { answers: () => ({ text: 'x' }) },
    );
    expect(winners).toEqual(['step', 'step', 'step']);
  });
});
