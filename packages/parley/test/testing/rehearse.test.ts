import { describe, expect, it } from 'vitest';
import type { Flow } from '../../src/flow/index.js';
import {
  decline,
  rehearse,
  wire,
  type RehearsedRound,
  type RehearseOptions,
} from '../../src/testing/index.js';
import { askText } from '../flow/host.js';

const answers = { a: { text: 'A' }, b: { text: 'B' } };
const both = async (flow: Flow): Promise<string> => `${await askText(flow, 'a')}${await askText(flow, 'b')}`;
const outcomeOf = async (options: RehearseOptions): Promise<unknown> =>
  (await rehearse(both, { answers, ...options })).outcome;
const done = { type: 'completed', value: 'AB' };

describe('rehearse', () => {
  it('runs a flow round by round and shows each round', async () => {
    const { outcome, rounds, replays, warnings } = await rehearse(both, { answers });
    expect(outcome).toEqual(done);
    expect(
      rounds.map(({ round, instance, questions }) => [round, instance, questions.map(({ key }) => key)]),
    ).toEqual([
      [1, 'a', ['a']],
      [2, 'a', ['b']],
      [3, 'a', []],
    ]);
    expect(rounds.map(({ journal }) => journal.length)).toEqual([0, 1, 2]);
    expect(rounds[2]?.journal[1]).toMatchObject({
      type: 'answer',
      key: 'b',
      answer: { action: 'accept', content: { text: 'B' } },
    });
    expect(rounds[0]?.questions[0]?.question).toMatchObject({
      kind: 'form',
      method: 'elicitation/create',
      params: { message: 'a' },
    });
    expect([replays, warnings]).toEqual([[], []]);
  });

  it('shows how large the sealed state is, which grows with the journal, and is none at the end', async () => {
    const { rounds } = await rehearse(both, { answers });
    const [first = 0, second = 0, third] = rounds.map(({ stateBytes }) => stateBytes);
    expect(first).toBeGreaterThan(100);
    expect(second).toBeGreaterThan(first);
    expect(third).toBe(0);
  });

  it('calls the handler with arguments and flow, or with the flow alone', async () => {
    const named = await rehearse((args: { name: string }, flow: Flow) => `${args.name} ${flow.round}`, {
      args: { name: 'x' },
    });
    expect(named.outcome).toEqual({ type: 'completed', value: 'x 1' });
    expect((await rehearse((flow: Flow) => flow.round)).outcome).toEqual({ type: 'completed', value: 1 });
  });

  it('takes answers from a function of the question and of the number of requests', async () => {
    const seen: unknown[] = [];
    const { outcome } = await rehearse(both, {
      answers: ({ key, question }, round) => {
        seen.push([key, question.params['message'], round]);
        return { text: `${key}${round}` };
      },
    });
    expect(outcome).toEqual({ type: 'completed', value: 'a1b2' });
    expect(seen).toEqual([
      ['a', 'a', 1],
      ['b', 'b', 2],
    ]);
  });

  it('ends with the keys of the questions when one has no answer', async () => {
    const two = (flow: Flow): Promise<unknown> =>
      Promise.all([askText(flow, 'a'), askText(flow, 'constructor')]);
    expect((await rehearse(two, { answers })).outcome).toEqual({
      type: 'unanswered',
      keys: ['a', 'constructor'],
    });
    expect((await rehearse(two)).outcome).toEqual({ type: 'unanswered', keys: ['a', 'constructor'] });
    expect((await rehearse(two, { answers: () => undefined })).outcome).toMatchObject({ type: 'unanswered' });
  });

  it('shows what the handler throws as the outcome, and does not reject', async () => {
    const error = new Error('no');
    expect((await rehearse(() => Promise.reject(error))).outcome).toEqual({ type: 'failed', error });
    expect(
      (
        await rehearse(() => {
          throw error;
        })
      ).outcome,
    ).toEqual({ type: 'failed', error });
    expect((await rehearse(both, { answers: { ...answers, b: decline() } })).outcome).toMatchObject({
      type: 'failed',
      error: { code: 'input_refused' },
    });
  });

  it('shows a state that grew too large as the outcome too', async () => {
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        await flow.step('everything', () => 'x'.repeat(60_000));
        return await both(flow);
      },
      { answers },
    );
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: 'state_too_large', largest: [{ key: 'everything' }] },
    });
  });

  it('sends answers that nobody asked for with the first request', async () => {
    const { outcome, rounds } = await rehearse(both, {
      answers,
      unasked: { a: { text: 'early' }, x: { text: 'x' } },
    });
    expect(outcome).toEqual({ type: 'completed', value: 'earlyB' });
    expect(rounds).toHaveLength(2);
  });

  it('shows warnings', async () => {
    const { warnings } = await rehearse(async (flow: Flow) => {
      void (async () => {
        for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
        await flow.step('late', () => 1);
      })();
      await askText(flow, 'a');
    });
    for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
    expect(warnings).toEqual([expect.stringContaining("flow.step('late')")]);
  });

  it('tells the handler what the client declares', async () => {
    const seen = async (options: RehearseOptions): Promise<unknown> =>
      (await rehearse((flow: Flow) => flow.client.roots, options)).outcome;
    expect(await seen({})).toEqual({ type: 'completed', value: true });
    expect(await seen({ client: { roots: false } })).toEqual({ type: 'completed', value: false });
  });

  it('gives a flow one id in all of its rounds, and another in the next rehearsal', async () => {
    const ids: string[] = [];
    const handler = async (flow: Flow): Promise<string> => {
      ids.push(flow.id);
      return await both(flow);
    };
    await rehearse(handler, { answers });
    await rehearse(handler, { answers });
    expect(ids).toHaveLength(6);
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(new Set(ids).size).toBe(2);
    expect(ids[0]).toMatch(/^[\w-]{22}$/);
  });

  it('does not wait: time is simulated', async () => {
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        const before = flow.now();
        let checks = 0;
        await flow.waitFor('w', () => ((checks += 1) === 10 ? true : undefined), {
          every: 60_000,
          hold: 3_600_000,
        });
        return flow.now() - before;
      },
      { startAt: 0 },
    );
    expect(outcome).toEqual({ type: 'completed', value: 9 * 60_000 });
  });
});

describe('rehearse: what happens to single rounds', () => {
  it('runs rounds on other instances, which share only keys (MRTR-S-15, CORE-23)', async () => {
    const { outcome, rounds } = await rehearse(both, {
      answers,
      rounds: { 2: { instance: 'b' }, 3: { instance: 'c' } },
    });
    expect(outcome).toEqual(done);
    expect(rounds.map(({ instance }) => instance)).toEqual(['a', 'b', 'c']);
  });

  it('sends a request again whose response was lost (GAP-30)', async () => {
    const { outcome, rounds } = await rehearse(both, {
      answers,
      rounds: { 1: { drop: true }, 3: { drop: true } },
    });
    expect(outcome).toEqual(done);
    expect(rounds.map(({ round }) => round)).toEqual([1, 1, 2, 2, 3]);
  });

  it('sends a request again though its end was lost', async () => {
    const { outcome, rounds } = await rehearse(both, { answers, rounds: { 3: { drop: true } } });
    expect(outcome).toEqual(done);
    expect(rounds.map(({ round }) => round)).toEqual([1, 2, 3, 3]);
  });

  it('presents a request a second time, and shows what came of it (STATE-09)', async () => {
    const { outcome, replays, rounds } = await rehearse(both, {
      answers,
      rounds: { 1: { repeat: true }, 3: { repeat: true } },
    });
    expect(outcome).toEqual(done);
    expect(replays).toEqual([{ type: 'unanswered', keys: ['a'] }, done]);
    expect(rounds.map(({ round }) => round)).toEqual([1, 1, 2, 3, 3]);
  });

  it('STATE-06: rejects a state that is too old', async () => {
    const minutes = 60_000;
    expect(await outcomeOf({ rounds: { 2: { advance: 9 * minutes }, 3: { advance: 9 * minutes } } })).toEqual(
      done,
    );
    expect(await outcomeOf({ rounds: { 2: { advance: 12 * minutes } } })).toEqual({
      type: 'rejected',
      reason: 'expired',
    });
    expect(
      await outcomeOf({ policy: { ttl: 60 * minutes }, rounds: { 2: { advance: 12 * minutes } } }),
    ).toEqual(done);
    expect(
      await outcomeOf({ policy: { ttl: 1 * minutes }, rounds: { 3: { advance: 3 * minutes } } }),
    ).toEqual({
      type: 'rejected',
      reason: 'expired',
    });
  });

  it('rejects a flow that is older than a day, however quick each round was (GAP-23)', async () => {
    const hours = 3_600_000;
    const outcome = await outcomeOf({
      policy: { ttl: 48 * hours },
      rounds: { 2: { advance: 13 * hours }, 3: { advance: 13 * hours } },
    });
    expect(outcome).toMatchObject({
      type: 'rejected',
      reason: expect.stringMatching(/^(deadline|expired)$/) as string,
    });
  });

  it('STATE-05: rejects the state of another caller', async () => {
    const other = { type: 'rejected', reason: 'principal' };
    expect(await outcomeOf({ principal: 'ann', rounds: { 2: { principal: 'bob' } } })).toEqual(other);
    expect(await outcomeOf({ principal: 'ann', rounds: { 2: { principal: null } } })).toEqual(other);
    expect(await outcomeOf({ principal: null, rounds: { 3: { principal: 'ann' } } })).toEqual(other);
    expect(await outcomeOf({ principal: 'ann', rounds: { 2: { principal: 'ann' } } })).toEqual(done);
  });

  it('STATE-07: rejects the state of other arguments', async () => {
    const handler = async (args: { env: string }, flow: Flow): Promise<string> =>
      `${args.env}${await askText(flow, 'a')}`;
    const withArgs = async (args: unknown): Promise<unknown> =>
      (await rehearse(handler, { args: { env: 'test' }, answers, rounds: { 2: { args } } })).outcome;
    expect(await withArgs({ env: 'prod' })).toEqual({ type: 'rejected', reason: 'request' });
    expect(await withArgs({ env: 'test', more: 1 })).toEqual({ type: 'rejected', reason: 'request' });
    expect(await withArgs(undefined)).toEqual({ type: 'rejected', reason: 'request' });
    expect(await withArgs({ env: 'test' })).toEqual({ type: 'completed', value: 'testA' });
  });

  it.each<[string, (state: string) => string, string]>([
    ['cut', (state) => state.slice(0, -4), 'authentication or malformed'],
    ['of another prefix', (state) => state.replace('parley1.', 'parley2.'), 'malformed'],
    ['with white space', (state) => `${state}\n`, 'malformed'],
    ['empty', () => '', 'malformed'],
    ['enormous', (state) => state + 'A'.repeat(1_000_000), 'too_long'],
    ['of an unknown key', (state) => `parley1.AAAAAA${state.slice('parley1.'.length + 6)}`, 'unknown_key'],
    ['changed in its last characters', (state) => `${state.slice(0, -8)}AAAAAAAA`, 'authentication'],
    [
      'changed in the middle',
      (state) => `${state.slice(0, 200)}${state[200] === 'A' ? 'B' : 'A'}${state.slice(201)}`,
      'authentication',
    ],
  ])('STATE-02, STATE-03: rejects a state that is %s', async (_, tamper, reason) => {
    for (const round of [2, 3]) {
      const outcome = await outcomeOf({ rounds: { [round]: { tamper } } });
      expect(outcome).toMatchObject({
        type: 'rejected',
        reason: expect.stringMatching(new RegExp(`^(${reason.replace(' or ', '|')})$`)) as string,
      });
    }
  });

  it('runs no handler for a state that it rejects (STATE-16)', async () => {
    let runs = 0;
    await rehearse(
      async (flow: Flow) => {
        runs += 1;
        return await both(flow);
      },
      { answers, rounds: { 2: { tamper: (state) => `${state}x` } } },
    );
    expect(runs).toBe(1);
  });

  it('takes the version of the handler into account', async () => {
    expect(await outcomeOf({ policy: { version: '2' } })).toEqual(done);
  });
});

describe('rehearse in one go', () => {
  it('answers in place, in a single round', async () => {
    let runs = 0;
    const { outcome, rounds } = await rehearse(
      async (flow: Flow) => {
        runs += 1;
        return await both(flow);
      },
      { answers, uninterrupted: true },
    );
    expect(outcome).toEqual(done);
    expect(runs).toBe(1);
    expect(rounds.map(({ round, questions }) => [round, questions])).toEqual([[1, []]]);
  });

  it('ends as in many rounds when a question has no answer', async () => {
    expect(await outcomeOf({ answers: { a: { text: 'A' } }, uninterrupted: true })).toEqual({
      type: 'unanswered',
      keys: ['b'],
    });
  });

  it('asks again for what cannot be used', async () => {
    let asked = 0;
    const { outcome } = await rehearse(both, {
      uninterrupted: true,
      answers: ({ key }) => ((asked += 1) === 1 ? wire('malformed') : { text: key }),
    });
    expect(outcome).toEqual({ type: 'completed', value: 'ab' });
  });
});

describe('rehearse a flow that goes on as a task', () => {
  const report = async (flow: Flow): Promise<string> => {
    const a = await askText(flow, 'a');
    await flow.detach({ message: 'Working' });
    return `${a}${await askText(flow, 'b')}`;
  };
  const detached = { ...done, detached: true };
  const keys = (rounds: readonly RehearsedRound[]): unknown[] =>
    rounds.map(({ round, questions }) => [round, questions.map(({ key }) => key)]);

  it('says so, and shows the round that detached and each run of the task', async () => {
    const { outcome, rounds } = await rehearse(report, { answers });
    expect(outcome).toEqual(detached);
    // The task has one run that asks, and one that ends; `round` stays that of the request (TASK-13).
    expect(keys(rounds)).toEqual([
      [1, ['a']],
      [2, []],
      [2, ['b']],
      [2, []],
    ]);
    expect(rounds.map(({ journal }) => journal.at(-1)?.type)).toEqual([
      undefined,
      'detach',
      'detach',
      'answer',
    ]);
    expect(rounds.map(({ stateBytes }) => stateBytes > 0)).toEqual([true, false, false, false]);
  });

  it('says nothing of it when the flow did not come to it', async () => {
    const { outcome } = await rehearse(report, { answers: { a: decline() } });
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'input_refused' } });
    expect(outcome).not.toHaveProperty('detached');
  });

  it('runs the handler again from its top, and no step twice', async () => {
    let runs = 0;
    const worked: string[] = [];
    const { outcome } = await rehearse(async (flow: Flow) => {
      runs += 1;
      await flow.step('before', () => void worked.push('before'));
      await flow.detach();
      await flow.step('after', ({ heartbeat }) => {
        worked.push('after');
        return heartbeat('after');
      });
    });
    expect(outcome).toMatchObject({ type: 'completed', detached: true });
    expect([runs, worked]).toEqual([2, ['before', 'after']]);
  });

  it('says so of a task that fails, and of one without an answer', async () => {
    expect((await rehearse(report, { answers: { ...answers, b: decline() } })).outcome).toMatchObject({
      type: 'failed',
      error: { code: 'input_refused', key: 'b' },
      detached: true,
    });
    expect((await rehearse(report, { answers: { a: answers.a } })).outcome).toEqual({
      type: 'unanswered',
      keys: ['b'],
      detached: true,
    });
  });

  it('lets time pass and workers change: a task has no state that could be too old or too large', async () => {
    const { outcome, rounds } = await rehearse(
      async (flow: Flow) => {
        await flow.detach();
        await flow.step('large', () => 'x'.repeat(60_000));
        const before = flow.now();
        await askText(flow, 'a');
        return flow.now() - before;
      },
      { answers, rounds: { 1: { instance: 'server' }, 2: { advance: 3_600_000, instance: 'worker' } } },
    );
    expect(outcome).toEqual({ type: 'completed', value: 3_600_000, detached: true });
    expect(rounds.map(({ instance }) => instance)).toEqual(['server', 'server', 'worker']);
  });

  it('waits in simulated time', async () => {
    let checks = 0;
    const { outcome } = await rehearse(async (flow: Flow) => {
      await flow.detach();
      await flow.waitFor('w', () => ((checks += 1) === 50 ? true : undefined), { every: 1_000, hold: 2_000 });
    });
    expect(outcome).toMatchObject({ type: 'completed', detached: true });
  });

  it('ends, though the task would not: limits count anew in it', async () => {
    const asking = async (flow: Flow): Promise<void> => {
      await askText(flow, 'first');
      await flow.detach();
      for (let count = 0; ; count += 1) await askText(flow, `q${count}`);
    };
    const limits = { rounds: 3, waits: 3 };
    const { outcome, rounds } = await rehearse(asking, { answers: () => ({ text: 'x' }), limits });
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: 'too_many_rounds', bound: 'rounds', limit: 3 },
      detached: true,
    });
    expect(rounds.map(({ questions }) => questions.length)).toEqual([1, 0, 1, 1, 1]);
    const waiting = async (flow: Flow): Promise<void> => {
      await flow.detach();
      await flow.waitFor('w', () => undefined);
    };
    expect((await rehearse(waiting, { limits })).outcome).toMatchObject({
      error: { code: 'too_many_rounds', bound: 'waits' },
    });
    const unreadable = { answers: { a: answers.a, b: wire('unreadable') }, limits };
    expect((await rehearse(report, unreadable)).outcome).toMatchObject({ error: { bound: 'rounds' } });
  });

  it('gives the same task when the round is presented again, or its response was lost', async () => {
    const worked: string[] = [];
    const { outcome, replays, rounds } = await rehearse(
      async (flow: Flow) => {
        await askText(flow, 'a');
        await flow.detach();
        await flow.step('work', () => void worked.push('work'));
      },
      { answers, rounds: { 2: { drop: true, repeat: true } } },
    );
    expect(outcome).toMatchObject({ type: 'completed', detached: true });
    expect(replays).toEqual([{ type: 'task' }]);
    expect(worked).toEqual(['work']);
    expect(rounds.map(({ round }) => round)).toEqual([1, 2, 2, 2, 2]);
  });

  it('goes on with the journal of the first request that made it', async () => {
    let builds = 0;
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        await askText(flow, 'a');
        const build = await flow.step('build', () => (builds += 1));
        await flow.detach();
        return build;
      },
      { answers, rounds: { 2: { drop: true } } },
    );
    expect([outcome, builds]).toEqual([{ type: 'completed', value: 1, detached: true }, 2]);
  });

  it('keeps the arguments of the request, and the flow’s id and round', async () => {
    const seen: unknown[] = [];
    await rehearse(
      async (args: { env: string }, flow: Flow) => {
        seen.push([args.env, flow.id, flow.round]);
        await flow.detach();
      },
      { args: { env: 'prod' } },
    );
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
  });

  it('shows a client that takes tasks', async () => {
    const { outcome } = await rehearse((flow: Flow) =>
      flow.client.extensions.has('io.modelcontextprotocol/tasks'),
    );
    expect(outcome).toEqual({ type: 'completed', value: true });
  });

  it('stays one run in one go', async () => {
    let runs = 0;
    const { outcome, rounds } = await rehearse(
      async (flow: Flow) => {
        runs += 1;
        return await report(flow);
      },
      { answers, uninterrupted: true },
    );
    expect(outcome).toEqual(detached);
    expect([runs, rounds.length]).toEqual([1, 1]);
  });
});
