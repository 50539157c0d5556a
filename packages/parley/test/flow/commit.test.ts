import { describe, expect, it } from 'vitest';
import { readEntry, type JournalEntry, type OnceKeeper, type RunOutcome } from '../../src/flow/index.js';
import { accept, askText, nextRound, runRound, testHost, turns, type TestInput } from './host.js';

/** A store that takes lines when the test says so; without `byHand` at once. */
function store(options: { readonly byHand?: boolean } = {}): {
  input: TestInput;
  lines: string[];
  batches: JournalEntry[][];
  names: () => string[];
  release: (error?: Error) => Promise<void>;
} {
  const lines: string[] = [];
  const batches: JournalEntry[][] = [];
  const held: ((error?: Error) => void)[] = [];
  const commit = (given: readonly string[]): Promise<void> => {
    batches.push(given.map(readEntry));
    lines.push(...given);
    if (options.byHand !== true) return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      held.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  };
  return {
    input: { detached: 'done', commit },
    lines,
    batches,
    names: () => batches.flat().map((entry) => ('key' in entry ? entry.key : entry.type)),
    release: async (error) => {
      held.shift()?.(error);
      await turns(3);
    },
  };
}

/** Every call that works, as what it does when it begins. */
const works: readonly (readonly [string, (flow: FlowOf, begin: () => void) => Promise<unknown>])[] = [
  ['step', (flow, begin) => flow.step('work', begin)],
  ['once', (flow, begin) => flow.once('work', begin)],
  ['waitFor', (flow, begin) => flow.waitFor('work', () => (begin(), true))],
];
type FlowOf = Parameters<Parameters<typeof runRound>[0]>[0];

const once: OnceKeeper = ({ work, attempt }) => attempt(work);

describe('F5: before work begins', () => {
  it.each(works)('what was drawn is durable: %s', async (_, work) => {
    const { input, batches, release } = store({ byHand: true });
    const begun: unknown[] = [];
    const running = runRound(
      async (flow) => {
        const key = flow.uuid();
        await work(flow, () => void begun.push(key));
        return key;
      },
      { ...input, once },
    );
    await turns(3);
    expect(batches).toEqual([[{ type: 'uuid', value: expect.any(String) as string }]]);
    expect(begun).toEqual([]);
    await release();
    expect(begun).toHaveLength(1);
    await release();
    expect(await running).toMatchObject({ type: 'completed', value: begun[0] });
  });

  it.each(works)('a commit that is under way has ended: %s', async (_, work) => {
    const { input, batches, release } = store({ byHand: true });
    let begun = false;
    const running = runRound(
      (flow) =>
        Promise.all([
          flow.step('first', () => 1),
          // I/O outside of steps: the call comes while the first step's result is being committed.
          turns(2).then(() => work(flow, () => void (begun = true))),
        ]),
      { ...input, once },
    );
    await turns(6);
    expect(batches).toMatchObject([[{ key: 'first' }]]);
    expect(begun).toBe(false);
    await release();
    expect(begun).toBe(true);
    await release();
    expect(await running).toMatchObject({ type: 'completed' });
  });

  it('what another branch drew while the work waited for that is durable too', async () => {
    const { input, batches, release } = store({ byHand: true });
    const begun: unknown[] = [];
    let drawn: string | undefined;
    const running = runRound((flow) => {
      flow.uuid();
      return Promise.all([
        flow.step('work', () => void begun.push(drawn)),
        turns(2).then(() => (drawn = flow.uuid())),
      ]);
    }, input);
    await turns(4);
    expect(batches).toHaveLength(1);
    await release();
    expect(batches).toMatchObject([[{ type: 'uuid' }], [{ type: 'uuid', value: drawn }]]);
    expect(begun).toEqual([]);
    await release();
    expect(begun).toEqual([drawn]);
    await release();
    expect(await running).toMatchObject({ type: 'completed' });
  });

  it('is now, where nothing is left to commit', async () => {
    const { input, batches } = store();
    const order: string[] = [];
    await runRound(async (flow) => {
      const step = flow.step('a', () => void order.push('begun'));
      order.push('called');
      await step;
      const next = flow.step('b', () => void order.push('begun'));
      order.push('called');
      await next;
    }, input);
    expect(order).toEqual(['begun', 'called', 'begun', 'called']);
    expect(batches).toMatchObject([[{ key: 'a' }], [{ key: 'b' }]]);
  });

  it('each later check of a wait is held until what was drawn since is durable', async () => {
    const { input, names, release } = store({ byHand: true });
    let checks = 0;
    const running = runRound(
      (flow) =>
        Promise.all([
          flow.waitFor('w', () => ((checks += 1) === 2 ? true : undefined), { every: 1, hold: 60_000 }),
          turns(2).then(() => flow.random()),
        ]),
      { ...input, host: testHost({ scheduler: { ...testHost().scheduler, after: afterTurns(6) } }) },
    );
    await turns(12);
    expect(checks).toBe(1);
    expect(names()).toEqual(['random']);
    await release();
    expect(checks).toBe(2);
    await release();
    expect(await running).toMatchObject({ type: 'completed', value: [true, expect.any(Number)] });
  });

  it('a wait whose time was over meanwhile does not check any more', async () => {
    const { input, release } = store({ byHand: true });
    let checks = 0;
    const running = runRound(
      async (flow) => {
        flow.random();
        return await flow.waitFor('w', () => void (checks += 1), { every: 1, hold: 1 });
      },
      { ...input, host: testHost({ scheduler: { ...testHost().scheduler, after: afterTurns(2) } }) },
    );
    expect(await running).toMatchObject({ type: 'suspended', questions: [], every: 1 });
    await release();
    expect(checks).toBe(0);
  });

  it('a wait whose time was over meanwhile does not check, though the run goes on', async () => {
    const { input, release } = store({ byHand: true });
    let checks = 0;
    const running = runRound(
      async (flow) => {
        const step = flow.step('slow', () => turns(12));
        flow.random();
        void flow.waitFor('w', () => void (checks += 1), { every: 1, hold: 1 });
        return await step;
      },
      { ...input, host: testHost({ scheduler: { ...testHost().scheduler, after: afterTurns(2) } }) },
    );
    await turns(6);
    await release();
    await turns(8);
    await release();
    expect(await running).toMatchObject({ type: 'completed' });
    expect(checks).toBe(0);
  });

  it('the run must not have ended', async () => {
    const { input, release } = store({ byHand: true });
    const worker = new AbortController();
    let begun = false;
    const running = runRound(
      async (flow) => {
        flow.uuid();
        await flow.step('work', () => void (begun = true));
      },
      { ...input, signal: worker.signal },
    );
    await turns(2);
    worker.abort(new Error('cancelled'));
    expect(await running).toMatchObject({ type: 'failed', error: { message: 'cancelled' } });
    await release();
    expect(begun).toBe(false);
  });
});

/** Timers that count turns of the event loop instead of ms. */
function afterTurns(count: number): (ms: number, callback: () => void) => () => void {
  return (ms, callback) => {
    let cancelled = false;
    const fire = async (): Promise<void> => {
      await turns(ms > 1_000 ? 10_000 : count);
      if (!cancelled) callback();
    };
    void fire();
    return () => void (cancelled = true);
  };
}

describe('R7: what settled', () => {
  it('is handed over when it is durable, and not before', async () => {
    const { input, batches, release } = store({ byHand: true });
    const seen: unknown[] = [];
    const running = runRound(async (flow) => {
      seen.push(await flow.step('a', () => 'A'));
    }, input);
    await turns(5);
    expect(batches).toEqual([[{ type: 'step', key: 'a', value: 'A' }]]);
    expect(seen).toEqual([]);
    await release();
    expect(seen).toEqual(['A']);
    expect(await running).toMatchObject({ type: 'completed' });
  });

  it('is committed and handed over one at a time', async () => {
    const { input, names, release } = store({ byHand: true });
    const seen: string[] = [];
    const running = runRound(
      (flow) =>
        Promise.all(
          ['a', 'b', 'c'].map(async (key) => {
            await flow.step(key, () => 1);
            seen.push(key);
          }),
        ),
      input,
    );
    await turns(5);
    expect([names(), seen]).toEqual([['a'], []]);
    await release();
    expect([names(), seen]).toEqual([['a', 'b'], ['a']]);
    await release();
    expect([names(), seen]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b'],
    ]);
    await release();
    expect(await running).toMatchObject({ type: 'completed' });
  });

  it('may be an answer, one that is unusable for good, a failure, or the detach', async () => {
    const { input, lines } = store();
    const handler = async (flow: FlowOf): Promise<void> => {
      await flow.detach();
      await flow.step('fails', () => Promise.reject(new Error('no'))).catch(() => undefined);
      await askText(flow, 'q');
      await askText(flow, 'never').catch(() => undefined);
    };
    const first = await runRound(handler, input);
    const second = await runRound(handler, {
      ...input,
      ...nextRound(first, { q: accept({ text: 'x' }), never: accept({ text: 5 }) }),
    });
    const third = await runRound(handler, {
      ...input,
      ...nextRound(second, { never: accept({ text: 5 }) }),
      limits: { attempts: 1 },
    });
    expect(third.type).toBe('completed');
    expect(lines).toEqual(third.journal);
    expect(third.journal.map((line) => readEntry(line).type)).toEqual([
      'detach',
      'step-failed',
      'answer',
      'answer-invalid',
    ]);
  });

  it('holds nothing up that was recorded before: a replay commits nothing', async () => {
    const handler = async (flow: FlowOf): Promise<unknown> => [
      flow.uuid(),
      await flow.step('a', () => 1),
      flow.now(),
      await flow.step('b', () => 2),
    ];
    const first = store();
    const whole = await runRound(handler, first.input);
    const again = store();
    const replayed = await runRound(handler, { ...again.input, journal: first.lines });
    expect(replayed).toEqual(whole);
    expect(again.batches).toEqual([]);
  });

  it('goes out in the order of the journal, draws included, each line once', async () => {
    const { input, lines, names } = store();
    const outcome = await runRound(async (flow) => {
      const key = flow.uuid();
      await flow.step('a', () => key);
      flow.now();
      flow.now();
      await Promise.all([flow.step('b', () => turns(2)), flow.step('c', () => 3)]);
      flow.random();
    }, input);
    expect(names()).toEqual(['uuid', 'a', 'now', 'now', 'c', 'b']);
    expect(outcome.journal.slice(0, -1)).toEqual(lines);
    // What was drawn last is in the outcome only: nothing depends on it yet.
    expect(readEntry(outcome.journal.at(-1) ?? '')).toMatchObject({ type: 'random', after: 'b' });
  });

  it('lets a draw during a commit belong to the delivery before it, as a replay has it', async () => {
    const { input, batches, release } = store({ byHand: true });
    const running = runRound(
      (flow) => Promise.all([flow.step('a', () => 1), turns(2).then(() => flow.random())]),
      input,
    );
    await turns(5);
    expect(batches).toMatchObject([[{ key: 'a' }]]);
    await release();
    const { journal } = await running;
    expect(journal.map(readEntry)).toEqual([
      { type: 'step', key: 'a', value: 1 },
      { type: 'random', value: expect.any(Number) as number },
    ]);
  });

  it('keeps a run from resting while a commit is under way', async () => {
    const { input, release } = store({ byHand: true });
    let ended = false;
    const running = runRound(
      (flow) => Promise.all([flow.step('a', () => 1).then(() => askText(flow, 'b')), askText(flow, 'q')]),
      input,
    ).finally(() => (ended = true));
    await turns(12);
    expect(ended).toBe(false);
    await release();
    expect(await running).toMatchObject({ type: 'suspended', questions: [{ key: 'q' }, { key: 'b' }] });
  });
});

describe('a commit that fails', () => {
  const failing = (): { input: TestInput; commits: () => number } => {
    let commits = 0;
    const commit = (): Promise<void> => {
      commits += 1;
      return Promise.reject(new Error('lost the claim'));
    };
    return { input: { detached: 'done', commit }, commits: () => commits };
  };
  const lost = { type: 'failed', error: { message: 'lost the claim' } };

  it('ends the run with its error, past every catch, and nothing is handed over', async () => {
    const { input, commits } = failing();
    const seen: unknown[] = [];
    let signal: AbortSignal | undefined;
    const outcome: RunOutcome<unknown> = await runRound(async (flow) => {
      ({ signal } = flow);
      try {
        await Promise.all([flow.step('a', () => 1), flow.step('b', () => 2)]);
        seen.push('handed over');
      } catch (error) {
        seen.push(error);
      }
    }, input);
    expect(outcome).toMatchObject(lost);
    expect(signal?.aborted).toBe(true);
    await turns(5);
    expect(seen).toEqual([]);
    expect(commits()).toBe(1);
  });

  it.each(works)('before work has begun lets it not begin: %s', async (_, work) => {
    const { input } = failing();
    let begun = false;
    const outcome = await runRound(
      async (flow) => {
        flow.uuid();
        await work(flow, () => void (begun = true));
      },
      { ...input, once },
    );
    expect(outcome).toMatchObject(lost);
    await turns(5);
    expect(begun).toBe(false);
  });

  it('may throw as well', async () => {
    const outcome = await runRound((flow) => flow.step('a', () => 1), {
      detached: 'done',
      commit: () => {
        throw new Error('lost the claim');
      },
    });
    expect(outcome).toMatchObject(lost);
  });
});

describe('without commits', () => {
  it('a step begins in its call, whatever was drawn before', async () => {
    const order: string[] = [];
    const outcome = await runRound(async (flow) => {
      flow.uuid();
      const step = flow.step('a', () => void order.push('begun'));
      order.push('called');
      await step;
    });
    expect(outcome.type).toBe('completed');
    expect(order).toEqual(['begun', 'called']);
  });
});
