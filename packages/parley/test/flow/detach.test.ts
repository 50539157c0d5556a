import { describe, expect, it } from 'vitest';
import { ConfigurationError, KeyReused } from '../../src/errors.js';
import {
  readEntry,
  type DetachOptions,
  type Flow,
  type Journal,
  type RunOutcome,
} from '../../src/flow/index.js';
import { accept, askText, keysOf, nextRound, runRound, testHost, turns, type TestInput } from './host.js';

const possible: TestInput = { detached: 'possible' };

function detached(outcome: RunOutcome<unknown>): { options: DetachOptions; journal: Journal } {
  if (outcome.type !== 'detached') throw new Error(`not detached but ${outcome.type}`, { cause: outcome });
  return outcome;
}

/** The first run of the task that a run became. */
const asTask = (before: RunOutcome<unknown>): TestInput => ({
  detached: 'done',
  journal: detached(before).journal,
  asked: [],
});

const types = (journal: Journal): string[] => journal.map((line) => readEntry(line).type);

describe('flow.detach in a request', () => {
  it('ends the run with its options, and goes on where it was in the task', async () => {
    const ran: string[] = [];
    const handler = async (flow: Flow<undefined>): Promise<string[]> => {
      ran.push(await flow.step('before', () => 'before'));
      await flow.detach({ message: 'Working', ttl: 60_000, pollInterval: 500 });
      ran.push(await flow.step('after', () => 'after'));
      return ran;
    };
    const request = await runRound(handler, possible);
    expect(detached(request).options).toEqual({ message: 'Working', ttl: 60_000, pollInterval: 500 });
    expect(ran).toEqual(['before']);
    const task = await runRound(handler, asTask(request));
    expect(task).toMatchObject({ type: 'completed', value: ['before', 'before', 'after'] });
    expect(types(task.journal)).toEqual(['step', 'detach', 'step']);
  });

  it('has no options by default, and none that say nothing', async () => {
    const given = { ttl: undefined } as unknown as DetachOptions;
    expect(detached(await runRound((flow) => flow.detach(), possible)).options).toEqual({});
    expect(detached(await runRound((flow) => flow.detach(given), possible)).options).toEqual({});
  });

  it('is the last thing delivered in the journal that it gives', async () => {
    const old = await runRound(async (flow) => {
      await flow.step('kept', () => 1);
      await flow.step('left', () => 2);
      await askText(flow, 'q');
    });
    const outcome = await runRound(
      async (flow) => {
        await flow.step('kept', () => 0);
        flow.now();
        await flow.detach();
      },
      { ...possible, ...nextRound(old) },
    );
    const { journal } = detached(outcome);
    expect(types(journal)).toEqual(['step', 'now', 'detach', 'step']);
    expect(journal.at(-1)).toContain('left');
  });

  it('F4: lets questions that are pending go out first, and is reached again (TASK-12)', async () => {
    const handler = async (flow: Flow<undefined>): Promise<string> => {
      const [text] = await Promise.all([askText(flow, 'q'), flow.detach()]);
      return text;
    };
    const first = await runRound(handler, possible);
    expect(keysOf(first)).toEqual(['q']);
    expect(first.journal).toEqual([]);
    const second = await runRound(handler, {
      ...possible,
      ...nextRound(first, { q: accept({ text: 'x' }) }),
    });
    expect(types(detached(second).journal)).toEqual(['answer', 'detach']);
    expect(await runRound(handler, asTask(second))).toMatchObject({ type: 'completed', value: 'x' });
  });

  it('F4: lets work that runs come to its end, and what follows from it', async () => {
    const handler = async (flow: Flow<undefined>): Promise<unknown> => {
      const slow = flow.step('slow', () => turns(6)).then(() => flow.step('next', () => 'next'));
      return await Promise.all([flow.detach(), slow]);
    };
    const outcome = await runRound(handler, possible);
    expect(detached(outcome).journal.map(readEntry)).toMatchObject([
      { key: 'slow' },
      { key: 'next' },
      { type: 'detach' },
    ]);
  });

  it('does not wait for a wait: the task takes it up', async () => {
    let checks = 0;
    const handler = async (flow: Flow<undefined>): Promise<unknown> =>
      await Promise.all([flow.waitFor('w', () => ((checks += 1) > 1 ? 'there' : undefined)), flow.detach()]);
    const outcome = await runRound(handler, possible);
    expect(types(detached(outcome).journal)).toEqual(['detach']);
    expect(checks).toBe(1);
    expect(await runRound(handler, asTask(outcome))).toMatchObject({ value: ['there', undefined] });
  });

  it('goes before a round that would only wait', async () => {
    const immediately = testHost({
      scheduler: { ...testHost().scheduler, after: (_, callback) => (setImmediate(callback), () => {}) },
    });
    const handler = async (flow: Flow<undefined>): Promise<unknown> => {
      const wait = flow.waitFor('w', () => undefined, { every: 5, hold: 5 });
      await flow.step('slow', () => turns(8));
      return await Promise.all([wait, flow.detach()]);
    };
    expect((await runRound(handler, { ...possible, host: immediately })).type).toBe('detached');
  });

  it('is not bound by rounds: the last one may detach', async () => {
    const outcome = await runRound((flow) => flow.detach(), {
      ...possible,
      round: 16,
      limits: { rounds: 16, waits: 1 },
    });
    expect(outcome.type).toBe('detached');
  });

  it('comes to nothing when the handler ends without it', async () => {
    const outcome = await runRound((flow) => {
      void flow.detach();
      return 'done';
    }, possible);
    expect(outcome).toMatchObject({ type: 'completed', value: 'done', journal: [] });
  });

  it('loses a race to what settles in the request, there and in the task', async () => {
    const handler = async (flow: Flow<undefined>): Promise<unknown> => {
      const winner = await Promise.race([
        flow.detach().then(() => 'detach'),
        flow.step('s', () => turns(3)).then(() => 'step'),
      ]);
      await flow.detach();
      return winner;
    };
    const outcome = await runRound(handler, possible);
    expect(await runRound(handler, asTask(outcome))).toMatchObject({ type: 'completed', value: 'step' });
  });

  it('F2: abandons the handler: nothing after it runs, no finally, and late calls are told of', async () => {
    const host = testHost();
    const ran: string[] = [];
    let signal: AbortSignal | undefined;
    await runRound(
      async (flow) => {
        ({ signal } = flow);
        void turns(8).then(() => flow.step('late', () => void ran.push('late')));
        void turns(8).then(() => flow.detach().then(() => ran.push('second detach')));
        try {
          await flow.detach();
          ran.push('after');
        } finally {
          ran.push('finally');
        }
      },
      { ...possible, host },
    );
    await turns(12);
    expect(ran).toEqual([]);
    expect(signal?.aborted).toBe(true);
    expect(host.warnings).toEqual([expect.stringContaining("flow.step('late')")]);
  });

  it('works with answers in place: they come first', async () => {
    const outcome = await runRound(
      async (flow) => {
        await Promise.all([askText(flow, 'q'), flow.detach()]);
      },
      { ...possible, inPlace: () => Promise.resolve({ q: accept({ text: 'x' }) }) },
    );
    expect(types(detached(outcome).journal)).toEqual(['answer', 'detach']);
  });
});

describe('flow.detach in a task', () => {
  it('keeps its place in the order of delivery', async () => {
    const order: string[] = [];
    const handler = async (flow: Flow<undefined>): Promise<void> => {
      const note = (what: string) => (): void => void order.push(what);
      await Promise.all([
        flow.detach().then(note('detach')),
        flow.step('before', () => 1).then(note('before')),
        flow
          .detach()
          .then(() => flow.step('after', () => 1))
          .then(note('after')),
      ]);
    };
    const request = await runRound(handler, possible);
    const task = await runRound(handler, asTask(request));
    await runRound(handler, { detached: 'done', journal: task.journal });
    const once = ['before', 'detach', 'after'];
    expect(order).toEqual(['before', ...once, ...once]);
  });

  it('is recorded when it was not yet, and only resolves', async () => {
    const handler = async (flow: Flow<undefined>): Promise<string> => {
      await flow.detach({ message: 'x' });
      return 'on';
    };
    const outcome = await runRound(handler, { detached: 'done' });
    expect(outcome).toMatchObject({ type: 'completed', value: 'on' });
    expect(types(outcome.journal)).toEqual(['detach']);
    expect(await runRound(handler, { detached: 'done', journal: outcome.journal })).toEqual(outcome);
  });

  it('takes place once, also when the run rests again and only waits', async () => {
    const immediately = testHost({
      scheduler: { ...testHost().scheduler, after: (_, callback) => (setImmediate(callback), () => {}) },
    });
    const outcome = await runRound(
      async (flow) => {
        await flow.detach();
        await turns(8);
        await flow.waitFor('w', () => undefined);
      },
      { detached: 'done', host: immediately },
    );
    expect(outcome).toMatchObject({ type: 'suspended', questions: [] });
    expect(types(outcome.journal)).toEqual(['detach']);
  });

  it('keeps what was drawn after it', async () => {
    const handler = async (flow: Flow<undefined>): Promise<unknown> => {
      const before = flow.random();
      await flow.detach();
      const after = flow.random();
      await askText(flow, 'q');
      return [before, after];
    };
    const request = await runRound(handler, possible);
    const first = await runRound(handler, asTask(request));
    const draws = first.journal.flatMap((line) => {
      const entry = readEntry(line);
      return entry.type === 'random' ? [entry.value] : [];
    });
    const second = await runRound(handler, {
      ...nextRound(first, { q: accept({ text: 'x' }) }),
      detached: 'done',
    });
    expect(second).toMatchObject({ type: 'completed', value: draws });
  });
});

describe('flow.detach, whatever the mode', () => {
  it.each(['possible', 'done'] as const)('is one promise however often it is called: %s', async (mode) => {
    let same: boolean | undefined;
    await runRound(
      async (flow) => {
        const first = flow.detach({ ttl: 5 });
        same = flow.detach({ ttl: 6 }) === first && flow.detach() === first;
        await first;
      },
      { detached: mode },
    );
    expect(same).toBe(true);
  });

  it('takes the options of the first call', async () => {
    const outcome = await runRound(async (flow) => {
      void flow.detach({ ttl: 5 });
      await flow.detach({ ttl: 6, message: 'second' });
    }, possible);
    expect(detached(outcome).options).toEqual({ ttl: 5 });
  });

  it.each<[string, unknown]>([
    ['ttl', 0],
    ['ttl', -1],
    ['ttl', 1.5],
    ['ttl', Infinity],
    ['ttl', NaN],
    ['ttl', null],
    ['ttl', '1000'],
    ['ttl', 2 ** 53],
    ['pollInterval', 0],
    ['pollInterval', 0.5],
    ['pollInterval', 2 ** 31],
    ['pollInterval', 10n],
    ['message', 5],
    ['message', null],
    ['message', 'x'.repeat(1_001)],
  ])('refuses a wrong %s', async (name, value) => {
    for (const mode of ['possible', 'done', undefined] as const) {
      const outcome = await runRound((flow) => flow.detach({ [name]: value }), mode && { detached: mode });
      expect(outcome).toMatchObject({
        type: 'failed',
        error: { name: 'RangeError', message: expect.stringContaining(name) as string },
      });
    }
  });

  it('refuses wrong options of a later call too, and lets a caller correct them', async () => {
    const errors: unknown[] = [];
    const outcome = await runRound(async (flow) => {
      await flow.detach({ ttl: -1 }).catch((error: unknown) => errors.push(error));
      const first = flow.detach();
      await flow.detach({ ttl: -1 }).catch((error: unknown) => errors.push(error));
      await first;
    }, possible);
    expect(errors).toEqual([expect.any(RangeError), expect.any(RangeError)]);
    expect(detached(outcome).options).toEqual({});
  });

  it('takes a message of 1,000 characters', async () => {
    const message = '😀'.repeat(500);
    expect(detached(await runRound((flow) => flow.detach({ message }), possible)).options).toEqual({
      message,
    });
  });

  it('is a NestedCall inside a step', async () => {
    for (const mode of ['possible', 'done', undefined] as const) {
      const outcome = await runRound(
        (flow) => flow.step('outer', () => flow.detach()),
        mode && { detached: mode },
      );
      expect(outcome).toMatchObject({
        type: 'failed',
        error: { cause: { code: 'nested_call', step: 'outer', call: 'detach' } },
      });
    }
  });

  it('takes up no key of the author', async () => {
    const outcome = await runRound(
      async (flow) => {
        await flow.step('detach', () => 1);
        await flow.detach();
        await flow.step('detach', () => 2);
      },
      { detached: 'done' },
    );
    expect(outcome).toMatchObject({ type: 'failed', error: expect.any(KeyReused) as unknown });
    expect(types(outcome.journal)).toEqual(['step', 'detach']);
  });
});

describe('flow.detach where it is not possible', () => {
  const handler = (seen: unknown[]) => async (flow: Flow<undefined>) => {
    try {
      await flow.detach({ message: 'x' });
      seen.push('went on');
    } catch (error) {
      seen.push(error);
    } finally {
      seen.push('finally');
    }
  };

  it('fails the run, past every catch, and says what to configure', async () => {
    const seen: unknown[] = [];
    const outcome = await runRound(handler(seen));
    expect(outcome).toMatchObject({
      type: 'failed',
      error: expect.any(ConfigurationError) as unknown,
      journal: [],
    });
    expect(outcome).toMatchObject({
      error: { message: expect.stringContaining('new Parley({ tasks })') as string },
    });
    await turns(5);
    expect(seen).toEqual([]);
  });

  it('fails the run with the error that is given for it', async () => {
    const error = new Error('this client takes no tasks');
    expect(await runRound(handler([]), { cannotDetach: () => error })).toMatchObject({
      type: 'failed',
      error,
    });
  });

  it('does not make that error while nobody detaches', async () => {
    let made = 0;
    await runRound(() => 1, { cannotDetach: () => new Error(String((made += 1))) });
    expect(made).toBe(0);
  });
});
