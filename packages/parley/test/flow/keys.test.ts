import { describe, expect, it } from 'vitest';
import { FlowDiverged, InvalidKey, KeyReused, NestedCall } from '../../src/errors.js';
import type { Flow, RunOutcome } from '../../src/flow/index.js';
import { rehearse } from '../../src/testing/index.js';
import { askText, nextRound, runRound, suspended, turns } from './host.js';

type Call = (flow: Flow<undefined>, key: string) => Promise<unknown>;

const step: Call = (flow, key) => flow.step(key, () => 1);
const failed: Call = (flow, key) =>
  flow.step(key, () => Promise.reject(new Error('no'))).catch(() => undefined);
const question: Call = (flow, key) => askText(flow, key, `About ${JSON.stringify(key)}`);
const wait: Call = (flow, key) => flow.waitFor(key, () => 'there');
const failedWait: Call = (flow, key) =>
  flow
    .waitFor(key, () => {
      throw new Error('no');
    })
    .catch(() => undefined);

/** Each call of the flow object that takes a key. */
const calls: readonly (readonly [string, Call])[] = [
  ['step', step],
  ['form', question],
  ['elicit', (flow, key) => flow.elicit(key, { message: 'm', schema: { type: 'object', properties: {} } })],
  ['confirm', (flow, key) => flow.confirm(key, 'm')],
  ['elicitUrl', (flow, key) => flow.elicitUrl(key, { message: 'm', url: 'https://example.com' })],
  ['waitFor', wait],
  [
    'createMessage',
    (flow, key) =>
      flow.createMessage(key, {
        messages: [{ role: 'user', content: { type: 'text', text: 'x' } }],
        maxTokens: 1,
      }),
  ],
  ['listRoots', (flow, key) => flow.listRoots(key)],
];

const errorOf = (outcome: RunOutcome<unknown>): unknown =>
  outcome.type === 'failed' ? outcome.error : outcome.type;

describe('keys', () => {
  it.each([
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '',
    ' ',
    '0',
    'key with "quotes" and \n',
    'a\0b',
    'detach',
    '😀',
    '\ud800',
    'x'.repeat(256),
  ])('take %j for a step and for a question', async (key) => {
    for (const call of [step, question, failed, wait]) {
      let runs = 0;
      const { outcome, rounds } = await rehearse(
        async (flow: Flow) => {
          runs += 1;
          const first = await call(flow as Flow<undefined>, key);
          await askText(flow, 'next');
          return first ?? 'failed';
        },
        { answers: () => ({ text: 'x' }) },
      );
      expect(outcome).toEqual({
        type: 'completed',
        value: call === step ? 1 : call === question ? 'x' : call === wait ? 'there' : 'failed',
      });
      expect(runs).toBe(call === question ? 3 : 2);
      expect(rounds.at(-1)?.journal.map((entry) => 'key' in entry && entry.key)).toEqual([key, 'next']);
    }
  });

  it.each(calls)(
    'are refused by %s when JavaScript treats them specially, they are the library’s own, or they are none',
    async (name, call) => {
      for (const key of [
        '__proto__',
        'x'.repeat(257),
        '\0',
        '\0detach',
        undefined,
        null,
        5,
        Symbol('s'),
        {},
      ]) {
        const outcome = await runRound((flow) => call(flow, key as string));
        expect(errorOf(outcome)).toBeInstanceOf(InvalidKey);
        expect(errorOf(outcome)).toMatchObject({
          code: 'invalid_key',
          message: expect.stringContaining(`flow.${name}`) as string,
        });
      }
    },
  );

  it.each(calls)('are refused by %s when they were used before', async (_, call) => {
    const outcome = await runRound(async (flow) => {
      await flow.step('used', () => 1);
      await call(flow, 'used');
    });
    expect(errorOf(outcome)).toBeInstanceOf(KeyReused);
    expect(errorOf(outcome)).toMatchObject({ key: 'used' });
  });

  it('are used even if what was asked under them could not be asked', async () => {
    const outcome = await runRound(async (flow) => {
      await flow.elicitUrl('used', { message: 'm', url: 'ftp://x' }).catch(() => undefined);
      await flow.step('used', () => 1);
    });
    expect(errorOf(outcome)).toBeInstanceOf(KeyReused);
  });

  it('are free again in the next round', async () => {
    const { outcome } = await rehearse((flow: Flow) => askText(flow, 'a'), { answers: { a: { text: 'x' } } });
    expect(outcome).toEqual({ type: 'completed', value: 'x' });
  });
});

describe('FlowDiverged', () => {
  const recorded = async (call: Call): Promise<RunOutcome<unknown>> => {
    const handler = async (flow: Flow<undefined>): Promise<void> => {
      await call(flow, 'k');
      await askText(flow, 'next');
    };
    const first = await runRound(handler);
    if (call !== question) return first;
    return await runRound(handler, nextRound(first, { k: { action: 'accept', content: { text: 'x' } } }));
  };

  it.each([
    ['a step', 'a question', step, question],
    ['a step', 'a wait', step, wait],
    ['a step', 'a question', failed, question],
    ['a question', 'a step', question, step],
    ['a question', 'a wait', question, wait],
    ['a wait', 'a step', wait, step],
    ['a wait', 'a question', wait, question],
  ])('tells that %s is now %s', async (was, now, before, after) => {
    const journal = await recorded(before);
    const { outcome, ran } = await changed(journal, after);
    expect(errorOf(outcome)).toBeInstanceOf(FlowDiverged);
    expect(errorOf(outcome)).toMatchObject({ key: 'k', recorded: was, attempted: now });
    expect(ran).toBe(false);
  });

  it.each([
    ['a wait that failed', 'a step', failedWait, step],
    ['a step that failed', 'a wait', failed, wait],
  ])('tells that %s is now %s', async (_, now, before, after) => {
    const { outcome } = await changed(await recorded(before), after);
    expect(errorOf(outcome)).toMatchObject({ code: 'flow_diverged', key: 'k', attempted: now });
  });

  it('can be caught, and is the same in every round', async () => {
    const before = await recorded(step);
    const handler = async (flow: Flow<undefined>): Promise<string> => {
      const error: unknown = await question(flow, 'k').catch((reason: unknown) => reason);
      await askText(flow, 'another');
      return String(error);
    };
    const second = await runRound(handler, nextRound(before));
    const third = await runRound(handler, {
      ...nextRound(second, { another: { action: 'accept', content: { text: 'x' } } }),
      round: 3,
    });
    expect(third).toMatchObject({
      type: 'completed',
      value: expect.stringMatching(/recorded as a step and is now used as a question/) as string,
    });
  });

  async function changed(
    before: RunOutcome<unknown>,
    after: Call,
  ): Promise<{ outcome: RunOutcome<unknown>; ran: boolean }> {
    let ran = false;
    const outcome = await runRound(async (flow) => {
      await after(flow, 'k');
      ran = true;
    }, nextRound(before));
    return { outcome, ran };
  }
});

describe('changed code', () => {
  const finish = { round: 2, answers: { q: { action: 'accept', content: { text: 'x' } } } };

  it('leaves recorded steps that are no longer called in the journal, and goes on', async () => {
    const first = await runRound(async (flow) => {
      await flow.step('old', () => 1);
      await flow.step('kept', () => 2);
      await askText(flow, 'q');
    });
    const second = await runRound(
      async (flow) => [await flow.step('kept', () => 0), await askText(flow, 'q')],
      { ...nextRound(first), ...finish },
    );
    expect(second).toMatchObject({ type: 'completed', value: [2, 'x'] });
    expect(second.journal.join()).toMatch(/"old"/);
  });

  it('runs steps that are new, between recorded ones', async () => {
    const first = await runRound(async (flow) => {
      await flow.step('a', () => 1);
      await flow.step('c', () => 3);
      await askText(flow, 'q');
    });
    const second = await runRound(
      async (flow) => [
        await flow.step('a', () => 0),
        await flow.step('b', () => 2),
        await flow.step('c', () => 0),
        await askText(flow, 'q'),
      ],
      { ...nextRound(first), ...finish },
    );
    expect(second).toMatchObject({ type: 'completed', value: [1, 2, 3, 'x'] });
  });

  it('may call recorded steps in another order', async () => {
    const first = await runRound(async (flow) => {
      for (const key of ['a', 'b', 'c']) await flow.step(key, () => key);
      await askText(flow, 'q');
    });
    const second = await runRound(
      async (flow) => {
        const values: string[] = [];
        for (const key of ['c', 'a', 'b']) values.push(await flow.step(key, () => 'again'));
        return values;
      },
      { ...nextRound(first), ...finish },
    );
    expect(second).toMatchObject({ type: 'completed', value: ['c', 'a', 'b'] });
    expect(suspended(first).journal.toSorted()).toEqual(second.journal.toSorted());
  });
});

describe('a call inside a step', () => {
  it.each(calls)('is a NestedCall: %s', async (name, call) => {
    let inner: unknown;
    const outcome = await runRound((flow) =>
      flow.step('outer', () => {
        const nested = call(flow, 'inner');
        nested.catch((error: unknown) => (inner = error));
        return nested.then(() => undefined);
      }),
    );
    expect(inner).toBeInstanceOf(NestedCall);
    expect(inner).toMatchObject({ step: 'outer', call: name });
    expect(errorOf(outcome)).toMatchObject({ code: 'step_failed', cause: inner });
  });

  it.each(['now', 'random', 'uuid'] as const)(
    'is a NestedCall: %s, which a replay would not draw',
    async (source) => {
      const seen: unknown[] = [];
      const { outcome } = await rehearse(
        async (flow: Flow) => {
          await flow.step<string | number>('outer', () => flow[source]()).catch(() => undefined);
          seen.push(flow[source]());
          await askText(flow, 'q');
        },
        { answers: { q: { text: 'x' } }, rounds: { 2: { advance: 5 } } },
      );
      expect(outcome).toMatchObject({ type: 'completed' });
      expect(seen[1]).toBe(seen[0]);
    },
  );

  it('is one inside the check of a wait too', async () => {
    const outcome = await runRound((flow) => flow.waitFor('outer', () => flow.step('inner', () => 1)));
    expect(errorOf(outcome)).toMatchObject({ cause: { code: 'nested_call', step: 'outer', call: 'step' } });
  });

  it('leaves other branches alone while the step runs', async () => {
    const outcome = await runRound(
      async (flow) => await Promise.all([flow.step('a', () => turns(2)), flow.step('b', () => 'b')]),
    );
    expect(outcome).toMatchObject({ type: 'completed', value: [undefined, 'b'] });
  });
});
