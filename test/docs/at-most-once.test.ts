import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  accept,
  instance,
  stateOf,
  textOf,
  type Answer,
  type Instance,
} from '../../packages/parley/test/gate/wire-harness.js';
import {
  memoryLedger,
  OutcomeUnknown,
  type Flow,
  type Ledger,
  type ParleyOptions,
} from '../../packages/parley/src/index.js';
import { rehearse } from '../../packages/parley/src/testing/index.js';
import { load } from './load.js';
import { pages } from './markdown.js';

const yes = { go: accept({ confirm: true }) };

/** An instance with one tool, `t`. */
function serve(handler: (flow: Flow) => Promise<string>, options: ParleyOptions = {}): Instance {
  return instance(
    (flows) => {
      flows.registerTool('t', {}, async (flow) => ({
        content: [{ type: 'text', text: await handler(flow) }],
      }));
    },
    { ledger: memoryLedger(), patience: 50, ledgerTimeout: 100, ...options },
  );
}

/** Asks, and says yes. */
async function callWithYes(server: Instance): Promise<Answer> {
  const requestState = stateOf(await server.call('tools/call', 't'));
  return await server.call('tools/call', 't', { requestState, inputResponses: yes });
}

describe('the coupon of docs/at-most-once.md', async () => {
  const page = pages().find(({ file }) => file === 'docs/at-most-once.md');
  const code = page?.blocks.find((block) => block.code.includes('interface Coupons'))?.code ?? '';
  const { redeemWith } = (await load('coupon.ts', code)) as {
    redeemWith: (coupons: object) => (args: { coupon: string }, flow: Flow) => Promise<string>;
  };

  function shop(): { redeemed: string[]; redeem: (coupon: string) => (flow: Flow) => Promise<string> } {
    const redeemed: string[] = [];
    const handler = redeemWith({
      exists: async (coupon: string) => coupon === 'SUMMER',
      redeem: async (coupon: string) => (redeemed.push(coupon), 2_000),
    });
    return { redeemed, redeem: (coupon) => (flow) => handler({ coupon }, flow) };
  }

  it("whoever comes second is told apart by the flow's id", async () => {
    const { redeemed, redeem } = shop();
    const ledger = memoryLedger();
    const first = serve(redeem('SUMMER'), { ledger });
    const second = serve(redeem(' summer '), { ledger });
    expect(textOf(await callWithYes(first))).toBe('Redeemed: 20 €.');
    expect(textOf(await callWithYes(second))).toBe('This coupon has been redeemed already.');
    expect(redeemed).toEqual(['SUMMER']);
  });

  it('says the same to a repetition, and claims nothing for a code that does not exist', async () => {
    const { redeemed, redeem } = shop();
    const ledger = memoryLedger();
    const server = serve(redeem('SUMMER'), { ledger });
    const requestState = stateOf(await server.call('tools/call', 't'));
    for (let count = 0; count < 3; count += 1) {
      const answer = await server.call('tools/call', 't', { requestState, inputResponses: yes });
      expect(textOf(answer)).toBe('Redeemed: 20 €.');
    }
    expect(redeemed).toEqual(['SUMMER']);
    expect(ledger.size).toBe(1);
    expect(textOf(await serve(redeem('WINTER'), { ledger }).call('tools/call', 't'))).toBe(
      'There is no such coupon.',
    );
    expect(ledger.size).toBe(1);
  });
});

describe('what docs/at-most-once.md says', () => {
  it('a lost first response begins another flow, which does the work again; an id does not, nor a question', async () => {
    const runs = async (work: (flow: Flow, done: () => void) => Promise<unknown>): Promise<number> => {
      let count = 0;
      const server = serve(async (flow) => {
        await work(flow, () => void (count += 1));
        return 'done';
      });
      await server.call('tools/call', 't'); // its response is lost
      await callWithYes(server);
      return count;
    };
    const ask = (flow: Flow): Promise<boolean> => flow.confirm('go', 'Go?');
    expect(await runs(async (flow, done) => [await flow.once('w', done), await ask(flow)])).toBe(2);
    expect(await runs(async (flow, done) => [await flow.once('w', done, { id: '7' }), await ask(flow)])).toBe(
      1,
    );
    expect(await runs(async (flow, done) => [await ask(flow), await flow.once('w', done)])).toBe(1);
  });

  it('another key is another try: one of them succeeds at most, also for others', async () => {
    let calls = 0;
    const ledger = memoryLedger();
    const handler = async (flow: Flow): Promise<string> => {
      for (let attempt = 1; ; attempt += 1) {
        const work = flow.once(
          `redeem ${attempt}`,
          () => {
            calls += 1;
            if (calls === 1) throw new Error('deadlock');
            return flow.id;
          },
          { id: 'SUMMER' },
        );
        const result = await work.catch(() => undefined);
        if (result !== undefined) return result;
      }
    };
    const [a, b] = [serve(handler, { ledger }), serve(handler, { ledger })];
    expect(textOf(await a.call('tools/call', 't'))).toBe(textOf(await b.call('tools/call', 't')));
    expect(calls).toBe(2);
  });

  it('the failure of a tool is the response on record; a JSON-RPC error of a prompt is not', async () => {
    let runs = 0;
    const server = instance(
      (flows) => {
        const handler = async (flow: Flow): Promise<never> => {
          await flow.confirm('go', 'Go?');
          runs += 1;
          throw new Error('no');
        };
        flows.registerTool('t', {}, handler);
        flows.registerPrompt('p', {}, handler);
      },
      { ledger: memoryLedger(), singleUse: true },
    );
    for (const [method, name, times] of [
      ['tools/call', 't', 1],
      ['prompts/get', 'p', 2],
    ] as const) {
      runs = 0;
      const requestState = stateOf(await server.call(method, name));
      const request = { requestState, inputResponses: yes };
      const [first, second] = [
        await server.call(method, name, request),
        await server.call(method, name, request),
      ];
      expect(second.text.replace(/"id":\d+/, '')).toBe(first.text.replace(/"id":\d+/, ''));
      expect(runs).toBe(times);
    }
  });

  it('a record that was moved does not open, and the work is not done again', async () => {
    const inner = memoryLedger();
    const settled: { key: string; value: string }[] = [];
    let move = false;
    const ledger: Ledger = {
      claim: async (request) => {
        const result = await inner.claim(request);
        const other = settled.find(({ key }) => key !== request.key);
        return move && result.type === 'settled' ? { ...result, value: other?.value ?? '' } : result;
      },
      settle: (request) => (settled.push(request), inner.settle(request)),
      extend: (request) => inner.extend(request),
      release: (request) => inner.release(request),
      put: (request) => inner.put(request),
      get: (key) => inner.get(key),
      close: () => inner.close(),
    };
    let runs = 0;
    const work = (id: string) => async (flow: Flow) =>
      String(await flow.once('w', () => (runs += 1), { id }));
    expect(textOf(await serve(work('a'), { ledger }).call('tools/call', 't'))).toBe('1');
    expect(textOf(await serve(work('b'), { ledger }).call('tools/call', 't'))).toBe('2');
    move = true;
    const answer = await serve(work('a'), { ledger }).call('tools/call', 't');
    expect(textOf(answer)).toBe(new OutcomeUnknown('w').message);
    expect(runs).toBe(2);
  });

  it('a record whose key is gone is OutcomeUnknown, with a warning, and not done again', async () => {
    const ledger = memoryLedger();
    let runs = 0;
    const work = async (flow: Flow): Promise<string> =>
      String(await flow.once('w', () => (runs += 1), { id: 'a' }));
    expect(textOf(await serve(work, { ledger }).call('tools/call', 't'))).toBe('1');
    const other = 'parley_key_8wArIFzqXklysBVhBTgKrc7jxMJ4AWTIbNM_x0cRIJo';
    const server = serve(work, { ledger, keys: other });
    expect(textOf(await server.call('tools/call', 't'))).toBe(new OutcomeUnknown('w').message);
    expect(server.warnings.join()).toContain(`'w'`);
    expect(runs).toBe(1);
  });

  it('a memory ledger that is full refuses, and forgets nothing that counts', async () => {
    const ledger = memoryLedger({ maxRecords: 1 });
    let runs = 0;
    const work = (id: string) => async (flow: Flow) =>
      String(await flow.once('w', () => (runs += 1), { id }));
    expect(textOf(await serve(work('a'), { ledger }).call('tools/call', 't'))).toBe('1');
    const full = await serve(work('b'), { ledger }).call('tools/call', 't');
    expect(full.error).toMatchObject({ code: -32_603, data: { reason: 'unavailable' } });
    expect(textOf(await serve(work('a'), { ledger }).call('tools/call', 't'))).toBe('1');
    expect(runs).toBe(1);
  });

  it('OutcomeUnknown can be resolved by the far side, by the same idempotency key', async () => {
    let time = Date.UTC(2026, 6, 28);
    const inner = memoryLedger({ now: () => time });
    const never = (): Promise<never> => new Promise(() => undefined);
    const dying: Ledger = {
      claim: (request) => inner.claim(request),
      settle: never,
      extend: never,
      release: never,
      put: (request) => inner.put(request),
      get: (key) => inner.get(key),
      close: () => inner.close(),
    };
    const charged = new Set<string>();
    const handler = async (flow: Flow): Promise<string> => {
      await flow.confirm('go', 'Go?');
      const pay = (): string => (charged.add(`${flow.id} charge`), 'receipt');
      return await flow.once('charge', pay).catch((error: unknown) => {
        if (!(error instanceof OutcomeUnknown)) throw error;
        return flow.step('charge again', pay);
      });
    };
    const first = serve(handler, { ledger: dying, ledgerTimeout: 30 });
    const request = { requestState: stateOf(await first.call('tools/call', 't')), inputResponses: yes };
    expect((await first.call('tools/call', 't', request)).error?.code).toBe(-32_603);
    time += 31_000;
    expect(textOf(await serve(handler, { ledger: inner }).call('tools/call', 't', request))).toBe('receipt');
    expect(charged.size).toBe(1);
  });

  it('a form is answered by the first request, so it is no question to wait for; confirm is', async () => {
    const asked = async (ask: (flow: Flow) => Promise<unknown>): Promise<number> => {
      const { rounds } = await rehearse(ask, { answers: { q: true }, unasked: { q: { v: 'x' } } });
      return rounds.length;
    };
    const form = { message: 'V?', schema: z.object({ v: z.string() }) };
    expect(await asked((flow) => flow.form('q', form))).toBe(1);
    expect(await asked((flow) => flow.confirm('q', 'Q?'))).toBe(2);
  });
});
