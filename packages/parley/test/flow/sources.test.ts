import { describe, expect, it } from 'vitest';
import type { Flow } from '../../src/flow/index.js';
import { rehearse } from '../../src/testing/index.js';
import { askText } from './host.js';

const answers = { q: { text: 'x' }, r: { text: 'y' } };
const later = { 2: { advance: 1_000, instance: 'b' }, 3: { advance: 1_000, instance: 'c' } };

describe('flow.now, flow.random and flow.uuid', () => {
  it('give in each round what they gave before, and new values after it', async () => {
    const seen: unknown[][] = [];
    await rehearse(
      async (flow: Flow) => {
        const values: unknown[] = [flow.now(), flow.random(), flow.uuid(), flow.random()];
        seen.push(values);
        await askText(flow, 'q');
        values.push(flow.now(), flow.uuid());
        await askText(flow, 'r');
        values.push(flow.now());
      },
      { answers, rounds: later, startAt: 5_000 },
    );
    const [first = [], second = [], third = []] = seen;
    expect(first).toEqual([
      5_000,
      expect.any(Number),
      expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4/),
      expect.any(Number),
    ]);
    expect(first[1]).not.toBe(first[3]);
    expect(second.slice(0, 4)).toEqual(first);
    expect(second[4]).toBe(6_000);
    expect(third.slice(0, 6)).toEqual(second);
    expect(third[6]).toBe(7_000);
  });

  it('may be read in any number, and each by its own order', async () => {
    const seen: unknown[] = [];
    await rehearse(
      async (flow: Flow) => {
        const read = async (key: string): Promise<unknown[]> => {
          const before = [flow.random(), flow.now()];
          await flow.step(key, () => 1);
          return [...before, flow.uuid(), flow.random()];
        };
        seen.push(await Promise.all([read('a'), read('b')]));
        await askText(flow, 'q');
      },
      { answers, rounds: later },
    );
    expect(seen[1]).toEqual(seen[0]);
  });

  it('make no question unstable', async () => {
    const { outcome } = await rehearse(
      (flow: Flow) => askText(flow, 'q', `It is ${flow.now()}, order ${flow.uuid()}`),
      { answers, rounds: later },
    );
    expect(outcome).toEqual({ type: 'completed', value: 'x' });
  });
});

describe('flow.use', () => {
  it('runs a resolver once a round, however many use it', async () => {
    const runs: number[] = [];
    const user = async (flow: Flow): Promise<string> => {
      runs.push(flow.round);
      return await askText(flow, 'q');
    };
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        const shared = flow.use(user);
        expect(flow.use(user)).toBe(shared);
        return await Promise.all([
          flow.use(user),
          shared,
          flow.use(async (same) => (await same.use(user)).length),
        ]);
      },
      { answers },
    );
    expect(outcome).toEqual({ type: 'completed', value: ['x', 'x', 1] });
    expect(runs).toEqual([1, 2]);
  });

  it('keeps undefined, and runs a resolver that threw again', async () => {
    let runs = 0;
    await rehearse((flow: Flow) => {
      const nothing = (): undefined => void (runs += 1);
      flow.use(nothing);
      flow.use(nothing);
    });
    expect(runs).toBe(1);
  });

  it('tells resolvers apart by identity', async () => {
    const { outcome } = await rehearse((flow: Flow) => [flow.use(() => 1), flow.use(() => 2)]);
    expect(outcome).toEqual({ type: 'completed', value: [1, 2] });
  });
});
