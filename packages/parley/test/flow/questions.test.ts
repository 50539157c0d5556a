import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { AnswerInvalid, InputRefused, InvalidQuestion, QuestionUnstable } from '../../src/errors.js';
import type { Flow, RunOutcome } from '../../src/flow/index.js';
import { cancel, decline, rehearse, wire } from '../../src/testing/index.js';
import { accept, askText, keysOf, nextRound, runRound, suspended, TEXT } from './host.js';

const yes = { text: 'yes' };
const settled = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
const messageOf = (outcome: RunOutcome<unknown>): unknown =>
  suspended(outcome).questions[0]?.question.params['message'];

describe('a question', () => {
  it('gives the checked content of an accepted form', async () => {
    const schema = z.object({ region: z.enum(['eu', 'us']), count: z.int().default(2) });
    const { outcome } = await rehearse((flow: Flow) => flow.form('q', { message: 'm', schema }), {
      answers: { q: { region: 'eu', more: 1 } },
    });
    expect(outcome).toEqual({ type: 'completed', value: { region: 'eu', count: 2 } });
  });

  it.each<[string, ReturnType<typeof wire>, unknown, unknown, unknown, unknown]>([
    ['accept', wire(accept(yes)), { action: 'accept', content: yes }, yes, 'asked again', 'accept'],
    ['decline', decline(), { action: 'decline' }, 'decline', false, 'decline'],
    [
      'decline with content',
      wire({ action: 'decline', content: { text: 'x', confirm: true } }),
      { action: 'decline' },
      'decline',
      false,
      'decline',
    ],
    ['cancel', cancel(), { action: 'cancel' }, 'cancel', 'cancel', 'cancel'],
    [
      'cancel with content',
      wire({ action: 'cancel', content: { text: 'x', confirm: true } }),
      { action: 'cancel' },
      'cancel',
      'cancel',
      'cancel',
    ],
  ])('answered by %s (FORM-27, GAP-16)', async (_, answer, elicited, filled, confirmed, consented) => {
    const refusal = (error: unknown): unknown =>
      error instanceof InputRefused && error.key === 'q' ? error.action : error;
    const ask = async (handler: (flow: Flow) => Promise<unknown>): Promise<unknown> => {
      const { outcome } = await rehearse((flow: Flow) => handler(flow).catch(refusal), {
        answers: { q: answer },
        limits: { attempts: 1 },
      });
      return outcome.type === 'completed' ? outcome.value : outcome;
    };
    expect(await ask((flow) => flow.elicit('q', { message: 'm', schema: TEXT }))).toEqual(elicited);
    expect(await ask((flow) => flow.form('q', { message: 'm', schema: TEXT }))).toEqual(filled);
    if (confirmed !== 'asked again') expect(await ask((flow) => flow.confirm('q', 'm'))).toEqual(confirmed);
    expect(await ask((flow) => flow.elicitUrl('q', { message: 'm', url: 'https://example.com' }))).toEqual({
      action: consented,
    });
  });

  it.each([
    [true, true],
    [false, false],
  ])('confirm answered %j is %j', async (answer, value) => {
    const { outcome } = await rehearse((flow: Flow) => flow.confirm('q', 'Sure?'), {
      answers: { q: answer },
    });
    expect(outcome).toEqual({ type: 'completed', value });
  });

  it('refused by the person ends the flow as InputRefused when nobody catches it, and is not asked again', async () => {
    const { outcome, rounds } = await rehearse((flow: Flow) => askText(flow, 'q'), {
      answers: { q: decline() },
    });
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: 'input_refused', key: 'q', action: 'decline' },
    });
    expect(rounds).toHaveLength(2);
  });

  it('refused and caught replays as refused', async () => {
    const seen: unknown[] = [];
    await rehearse(
      async (flow: Flow) => {
        seen.push(await settled(askText(flow, 'q')));
        await askText(flow, 'next');
      },
      { answers: { q: cancel(), next: yes } },
    );
    expect(seen).toHaveLength(2);
    for (const error of seen) expect(error).toMatchObject({ code: 'input_refused', action: 'cancel' });
  });

  it('that cannot be asked is told at once, and can be caught', async () => {
    const outcome = await runRound((flow) => settled(flow.form('q', { message: '', schema: TEXT })));
    expect(outcome.type === 'completed' && outcome.value).toBeInstanceOf(InvalidQuestion);
  });

  it('of sampling and of roots is read by its kind (CORE-10)', async () => {
    const handler = async (flow: Flow): Promise<unknown> =>
      await Promise.all([
        flow.createMessage('model', {
          messages: [{ role: 'user', content: { type: 'text', text: 'x' } }],
          maxTokens: 5,
        }),
        flow.listRoots('roots'),
      ]);
    const said = { role: 'assistant', content: { type: 'text', text: 'y' }, model: 'm' };
    const { outcome } = await rehearse(handler, {
      answers: { model: said, roots: { roots: [{ uri: 'file:///a' }] } },
    });
    expect(outcome).toEqual({ type: 'completed', value: [said, [{ uri: 'file:///a' }]] });
  });

  it('gives live what it gives on a replay', async () => {
    const seen: unknown[] = [];
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
    await rehearse(
      async (flow: Flow) => {
        const { n } = await flow.form('q', { message: 'm', schema });
        seen.push(Object.is(n, -0) ? '-0' : String(n));
        await askText(flow, 'next');
      },
      { answers: { q: wire(JSON.parse('{"action":"accept","content":{"n":-0}}')), next: yes } },
    );
    expect(seen[1]).toBe(seen[0]);
  });

  it('gives live what it gives on a replay, for what a model said', async () => {
    const seen: unknown[] = [];
    const said = JSON.parse(
      '{"role":"assistant","model":"m","content":{"type":"tool_use","input":{"n":1e400}}}',
    ) as unknown;
    await rehearse(
      async (flow: Flow) => {
        const answer = await flow.createMessage('q', {
          messages: [{ role: 'user', content: { type: 'text', text: 'x' } }],
          maxTokens: 5,
        });
        seen.push(answer.content);
        await askText(flow, 'next');
      },
      { answers: { q: wire(said), next: yes } },
    );
    expect(seen[1]).toEqual(seen[0]);
  });
});

describe('a question that reads differently', () => {
  const priced = (price: () => number) => (flow: Flow<undefined>) =>
    askText(flow, 'price', `Pay ${price()}?`);

  it('is asked again, and its old answer is not used', async () => {
    const first = await runRound(priced(() => 10));
    const second = await runRound(
      priced(() => 20),
      nextRound(first, { price: accept(yes) }),
    );
    expect(messageOf(second)).toBe('Pay 20?');
    expect(second.journal).toEqual([]);
    expect(
      await runRound(
        priced(() => 20),
        nextRound(second, { price: accept(yes) }),
      ),
    ).toMatchObject({ type: 'completed', value: 'yes' });
  });

  it('is asked again, and what was recorded for it is dropped', async () => {
    const then = (price: number) => async (flow: Flow<undefined>) => {
      const answer = await askText(flow, 'price', `Pay ${price}?`);
      return `${answer} ${await askText(flow, 'next')}`;
    };
    const first = await runRound(then(10));
    const second = await runRound(then(10), nextRound(first, { price: accept(yes) }));
    const third = await runRound(then(20), { ...nextRound(second, { next: accept(yes) }), round: 3 });
    expect(keysOf(third)).toEqual(['price']);
    expect(third.journal).toEqual([]);
  });

  it.each<[string, (flow: Flow<undefined>, changed: boolean) => Promise<unknown>]>([
    [
      'schema',
      (flow, changed) =>
        flow.form('q', {
          message: 'm',
          schema: { type: 'object', properties: { a: { type: 'string', ...(changed && { maxLength: 5 }) } } },
        }),
    ],
    ['URL', (flow, changed) => flow.elicitUrl('q', { message: 'm', url: `https://example.com/${changed}` })],
    ['message of a confirmation', (flow, changed) => flow.confirm('q', `Sure ${changed}?`)],
    [
      'kind',
      (flow, changed) =>
        changed ? flow.confirm('q', 'm') : flow.elicitUrl('q', { message: 'm', url: 'https://example.com' }),
    ],
  ])('is one whose %s differs', async (_, ask) => {
    const first = await runRound((flow) => ask(flow, false));
    const second = await runRound(
      (flow) => ask(flow, true),
      nextRound(first, { q: accept({ confirm: true }) }),
    );
    expect(keysOf(second)).toEqual(['q']);
  });

  it('in every round ends the flow after three, naming the key', async () => {
    let price = 0;
    const { outcome, rounds } = await rehearse(
      (flow: Flow) => settled(askText(flow, 'price', `Pay ${(price += 1)}?`)),
      { answers: { price: yes } },
    );
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: 'question_unstable', key: 'price', rounds: 3 },
    });
    expect(outcome.type === 'failed' && outcome.error).toBeInstanceOf(QuestionUnstable);
    expect(rounds.map((round) => round.questions.length)).toEqual([1, 1, 1, 0]);
  });

  it('and then settles is answered', async () => {
    const prices = [1, 2, 3, 3];
    const { outcome } = await rehearse((flow: Flow) => askText(flow, 'price', `Pay ${prices.shift()}?`), {
      answers: { price: yes },
    });
    expect(outcome).toEqual({ type: 'completed', value: 'yes' });
  });

  it('only now and then is no fault', async () => {
    const prices = [1, 2, 2, 3, 3, 4, 4];
    let before = await runRound((flow) => askText(flow, 'q', `${prices.shift()}`));
    for (let round = 2; round <= 7; round += 1) {
      before = await runRound((flow) => askText(flow, 'q', `${prices.shift()}`), {
        ...nextRound(before),
        round,
      });
      expect(before.type).toBe('suspended');
    }
  });
});

describe('an answer that cannot be used', () => {
  it.each([
    ['malformed', 'yes'],
    ['null', null],
    ['of another kind (CORE-10)', { roots: [] }],
    ['of an unknown action', { action: 'maybe', content: yes }],
    ['larger than the limit', accept({ text: 'x'.repeat(70_000) })],
  ])(
    'counts as absent when it is %s: asked again, without a reason and without end (MRTR-S-11, MRTR-S-14)',
    async (_, answer) => {
      let before = await runRound((flow) => askText(flow, 'q'));
      for (let round = 2; round <= 6; round += 1) {
        before = await runRound((flow) => askText(flow, 'q'), { ...nextRound(before, { q: answer }), round });
        expect(messageOf(before)).toBe('q');
      }
      expect(
        await runRound((flow) => askText(flow, 'q'), nextRound(before, { q: accept(yes) })),
      ).toMatchObject({ type: 'completed', value: 'yes' });
    },
  );

  it('counts as absent when it nests too deep', async () => {
    const deep = JSON.parse(
      `{"action":"accept","content":{"text":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`,
    ) as unknown;
    const first = await runRound((flow) => askText(flow, 'q'));
    const second = await runRound((flow) => askText(flow, 'q'), {
      ...nextRound(first, { q: deep }),
      limits: { answerBytes: 1_000_000 },
    });
    expect(second.type).toBe('suspended');
  });

  it('is asked again with the reason when its content does not fit (FORM-20, GAP-14)', async () => {
    const first = await runRound((flow) => askText(flow, 'q', 'Name?'));
    const second = await runRound(
      (flow) => askText(flow, 'q', 'Name?'),
      nextRound(first, { q: accept({ text: 5 }) }),
    );
    expect(messageOf(second)).toBe(`Name?\n\nThe last answer could not be used: 'text' must be a text.`);
    const third = await runRound((flow) => askText(flow, 'q', 'Name?'), {
      ...nextRound(second, { q: accept(yes) }),
      round: 3,
    });
    expect(third).toMatchObject({ type: 'completed', value: 'yes' });
  });

  it('is asked again when the form was accepted without content (GAP-15)', async () => {
    const first = await runRound((flow) => askText(flow, 'q'));
    const second = await runRound(
      (flow) => askText(flow, 'q'),
      nextRound(first, { q: { action: 'accept' } }),
    );
    expect(messageOf(second)).toMatch(/accepted without content/);
  });

  it("is asked again when the author's schema refuses it", async () => {
    const schema = z.object({ text: z.string().refine((text) => text !== 'no', 'must not be no') });
    const ask = (flow: Flow<undefined>): Promise<unknown> => flow.form('q', { message: 'm', schema });
    const second = await runRound(ask, nextRound(await runRound(ask), { q: accept({ text: 'no' }) }));
    expect(messageOf(second)).toBe(`m\n\nThe last answer could not be used: 'text': must not be no`);
  });

  it('ends as AnswerInvalid after three attempts', async () => {
    const { outcome, rounds } = await rehearse((flow: Flow) => askText(flow, 'q'), {
      answers: { q: { text: 5 } },
    });
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: 'answer_invalid', key: 'q', attempts: 3, reason: `'text' must be a text.` },
    });
    expect(rounds.map((round) => round.questions.length)).toEqual([1, 1, 1, 0]);
  });

  it('ends as AnswerInvalid after as many attempts as the limit says', async () => {
    const { rounds } = await rehearse((flow: Flow) => askText(flow, 'q'), {
      answers: { q: { text: 5 } },
      limits: { attempts: 1 },
    });
    expect(rounds).toHaveLength(2);
  });

  it('does not end earlier because other answers were good in between', async () => {
    const bad = { text: 5 };
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        const q = askText(flow, 'q');
        for (const key of ['a', 'b', 'c']) await askText(flow, key);
        return await q;
      },
      {
        answers: ({ key }, round) =>
          key !== 'q' ? yes : round === 2 ? wire(undefined) : round <= 3 ? bad : { text: 'at last' },
      },
    );
    expect(outcome).toEqual({ type: 'completed', value: 'at last' });
  });

  it('is caught as AnswerInvalid, the same in later rounds, and not asked again', async () => {
    const seen: unknown[] = [];
    const { outcome, rounds } = await rehearse(
      async (flow: Flow) => {
        seen.push(await settled(askText(flow, 'q')));
        await askText(flow, 'next');
      },
      { answers: { q: { text: 5 }, next: yes } },
    );
    expect(outcome.type).toBe('completed');
    expect(seen).toHaveLength(2);
    for (const error of seen) {
      expect(error).toBeInstanceOf(AnswerInvalid);
      expect(error).toMatchObject({ key: 'q', attempts: 3, reason: `'text' must be a text.` });
    }
    expect(rounds.at(-2)?.questions.map(({ key }) => key)).toEqual(['next']);
  });

  it('never tells its content', async () => {
    const { outcome, rounds } = await rehearse((flow: Flow) => flow.confirm('q', 'm'), {
      answers: { q: { confirm: 'hunter2' } },
    });
    expect(String(outcome.type === 'failed' && outcome.error)).not.toMatch(/hunter2/);
    expect(JSON.stringify(rounds)).not.toMatch(/hunter2/);
  });
});

describe('asynchronous schemas', () => {
  it('refine and transform, live and on each replay', async () => {
    const schema = z.object({
      text: z
        .string()
        .refine(async (text) => (await Promise.resolve(text)) !== 'taken', 'is taken')
        .transform(async (text) => (await Promise.resolve(text)).length),
    });
    const seen: number[] = [];
    const { outcome, rounds } = await rehearse(
      async (flow: Flow) => {
        seen.push((await flow.form('q', { message: 'm', schema })).text);
        await askText(flow, 'next');
      },
      {
        answers: (question, round) =>
          question.key === 'q' && round === 1 ? { text: 'taken' } : { text: 'free' },
      },
    );
    expect(outcome.type).toBe('completed');
    expect(seen).toEqual([4, 4]);
    expect(rounds[1]?.questions[0]?.question.params['message']).toMatch(/'text': is taken$/);
  });

  it('hold the round open while they check', async () => {
    const slow = async (): Promise<boolean> => {
      for (let index = 0; index < 5; index += 1) await new Promise((resolve) => void setImmediate(resolve));
      return true;
    };
    const schema = z.object({ text: z.string().refine(slow) });
    const { outcome, rounds } = await rehearse(
      (flow: Flow) =>
        Promise.all([
          flow.form('q', { message: 'm', schema }).then(({ text }) => askText(flow, text)),
          askText(flow, 'other'),
        ]),
      { answers: ({ key }) => ({ text: `after ${key}` }) },
    );
    expect(outcome).toEqual({ type: 'completed', value: ['after after q', 'after other'] });
    expect(rounds).toHaveLength(3);
  });

  it('that are slower do not change the winner of a race', async () => {
    const winners: string[] = [];
    const slow = z.object({
      text: z
        .string()
        .refine(() => new Promise<boolean>((resolve) => void setImmediate(() => resolve(true)))),
    });
    await rehearse(
      async (flow: Flow) => {
        const branches = [
          flow.form('slow', { message: 'm', schema: slow }).then(() => 'slow'),
          askText(flow, 'quick').then(() => 'quick'),
        ];
        winners.push(await Promise.race(branches));
        await askText(flow, 'next');
        await askText(flow, 'last');
      },
      { answers: () => yes },
    );
    expect(winners).toEqual(['quick', 'quick', 'quick']);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('database password is hunter2'))],
    [
      'throws',
      () => {
        throw new Error('database password is hunter2');
      },
    ],
  ])('that %s count as a refusal that tells nothing', async (_, validate) => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate,
        jsonSchema: { input: () => TEXT as unknown as Record<string, unknown> },
      },
    } as const;
    const ask = (flow: Flow<undefined>): Promise<unknown> => flow.form('q', { message: 'm', schema });
    const second = await runRound(ask, nextRound(await runRound(ask), { q: accept(yes) }));
    expect(messageOf(second)).toBe('m\n\nThe last answer could not be used: it could not be checked.');
  });
});

describe('answers that nobody asked for', () => {
  it('are taken on a first request, for questions that are not fresh', async () => {
    const { outcome, rounds } = await rehearse((flow: Flow) => askText(flow, 'q'), { unasked: { q: yes } });
    expect(outcome).toEqual({ type: 'completed', value: 'yes' });
    expect(rounds).toHaveLength(1);
  });

  it.each<[string, (flow: Flow) => Promise<unknown>]>([
    ['a confirmation', (flow) => flow.confirm('q', 'Delete everything?')],
    ['a fresh form', (flow) => flow.form('q', { message: 'm', schema: TEXT, fresh: true })],
    ['a fresh elicitation', (flow) => flow.elicit('q', { message: 'm', schema: TEXT, fresh: true })],
    ['a fresh URL', (flow) => flow.elicitUrl('q', { message: 'm', url: 'https://example.com', fresh: true })],
  ])('are not taken by %s on a first request (GAP-13, STATE-15)', async (_, handler) => {
    const { outcome } = await rehearse(handler, {
      unasked: { q: wire(accept({ confirm: true, text: 'x' })) },
    });
    expect(outcome).toEqual({ type: 'unanswered', keys: ['q'] });
  });

  it('are taken by a confirmation that is not fresh', async () => {
    const { outcome } = await rehearse((flow: Flow) => flow.confirm('q', 'm', { fresh: false }), {
      unasked: { q: true },
    });
    expect(outcome).toEqual({ type: 'completed', value: true });
  });

  it('are not taken in later rounds, since the last sealed round did not ask (GAP-13)', async () => {
    const handler = async (flow: Flow<undefined>): Promise<string> =>
      `${await askText(flow, 'a')} ${await askText(flow, 'b')}`;
    const first = await runRound(handler);
    const second = await runRound(
      handler,
      nextRound(first, { a: accept(yes), b: accept({ text: 'early' }) }),
    );
    expect(keysOf(second)).toEqual(['b']);
    expect(second.journal.join()).not.toMatch(/early/);
  });

  it('are not taken by a round after one that only waited', async () => {
    const outcome = await runRound((flow) => askText(flow, 'q'), {
      round: 2,
      asked: [],
      answers: { q: accept(yes) },
    });
    expect(keysOf(outcome)).toEqual(['q']);
  });

  it('do not find what every object inherits', async () => {
    const outcome = await runRound(
      (flow) => Promise.all(['constructor', 'toString', 'valueOf'].map((key) => askText(flow, key))),
      { answers: {} },
    );
    expect(keysOf(outcome)).toEqual(['constructor', 'toString', 'valueOf']);
  });
});
