import { inputRequired, type CallToolResult, type InputRequiredResult } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { memoryLedger, type Ledger, type McpFlow, type ParleyOptions } from '../../src/index.js';
import { TRANSACTION, type TransactionWork } from '../../src/ledger/index.js';
import { accept, instance, stateOf, textOf, type Instance } from './wire-harness.js';

const yes = { go: accept({ confirm: true }) };
const no = { go: accept({ confirm: false }) };

/** A step before and after a question, a redemption, and another question. */
function fleet(
  size: number,
  options: ParleyOptions = {},
  more: { readonly before?: () => Promise<void>; readonly id?: string } = {},
): { instances: Instance[]; effects: string[] } {
  const effects: string[] = [];
  const ledger = options.ledger ?? memoryLedger();
  const instances = Array.from({ length: size }, () =>
    instance(
      (flows) => {
        flows.registerTool('pay', {}, async (flow) => {
          const go = await flow.confirm('go', 'Pay?');
          await flow.step('quote', () => void effects.push('step'));
          const paid = await flow.once(
            'pay',
            async () => {
              await more.before?.();
              effects.push('paid');
              return { receipt: effects.length, by: flow.id };
            },
            more.id === undefined ? {} : { id: more.id },
          );
          const { note } = await flow.form('note', {
            message: 'Note?',
            schema: z.object({ note: z.string() }),
          });
          return { content: [{ type: 'text', text: `${go} ${paid.receipt} ${note}` }] };
        });
      },
      { singleUse: true, patience: 300, ledgerTimeout: 100, ...options, ledger },
    ),
  );
  return { instances, effects };
}

describe('a single-use round (STATE-08)', () => {
  it('asked for again, by the same request, gives the stored response byte for byte, and does nothing', async () => {
    const { instances, effects } = fleet(2);
    const [a, b] = instances as [Instance, Instance];
    const asked = await a.call('tools/call', 'pay');
    const request = { requestState: stateOf(asked), inputResponses: yes };
    const first = await a.call('tools/call', 'pay', request);
    const again = await b.call('tools/call', 'pay', request);
    expect(again.text.replace(/"id":\d+/, '')).toBe(first.text.replace(/"id":\d+/, ''));
    expect(effects).toEqual(['step', 'paid']);
    expect(b.events.map(({ name }) => name)).toContain('repeated');
    const end = { requestState: stateOf(first), inputResponses: { note: accept({ note: 'x' }) } };
    const done = await b.call('tools/call', 'pay', end);
    expect(textOf(done)).toBe('true 2 x');
    expect(textOf(await a.call('tools/call', 'pay', end))).toBe('true 2 x');
  });

  it('with other answers is rejected, whether it has ended or not', async () => {
    const { instances } = fleet(1);
    const [a] = instances as [Instance];
    const requestState = stateOf(await a.call('tools/call', 'pay'));
    await a.call('tools/call', 'pay', { requestState, inputResponses: yes });
    const other = await a.call('tools/call', 'pay', { requestState, inputResponses: no });
    expect(other.error?.code).toBe(-32_602);
    expect(a.rejections).toEqual(['replayed']);
  });

  it('with answers that nobody asked for beside the same ones is the same request', async () => {
    const { instances, effects } = fleet(1);
    const [a] = instances as [Instance];
    const requestState = stateOf(await a.call('tools/call', 'pay'));
    await a.call('tools/call', 'pay', { requestState, inputResponses: yes });
    await a.call('tools/call', 'pay', {
      requestState,
      inputResponses: { junk: { action: 'accept' }, ...yes },
    });
    expect(a.rejections).toEqual([]);
    expect(effects).toEqual(['step', 'paid']);
  });

  it('twenty times at the same instant runs once, and all get one response', async () => {
    const { instances, effects } = fleet(
      4,
      {},
      { before: () => new Promise((resolve) => void setTimeout(resolve, 30)) },
    );
    const requestState = stateOf(await (instances[0] as Instance).call('tools/call', 'pay'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (instances[index % 4] as Instance).call('tools/call', 'pay', { requestState, inputResponses: yes }),
      ),
    );
    expect(effects).toEqual(['step', 'paid']);
    expect(new Set(answers.map(stateOf)).size).toBe(1);
  });

  it('that still runs when patience is over is a plain error that says to send it again', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => void (release = resolve));
    const { instances, effects } = fleet(2, { patience: 30 }, { before: () => held });
    const [a, b] = instances as [Instance, Instance];
    const requestState = stateOf(await a.call('tools/call', 'pay'));
    const running = a.call('tools/call', 'pay', { requestState, inputResponses: yes });
    const busy = await b.call('tools/call', 'pay', { requestState, inputResponses: yes });
    expect(busy.error).toMatchObject({ code: 7003, data: { reason: 'round_busy' } });
    release();
    expect((await running).result?.resultType).toBe('input_required');
    const again = await b.call('tools/call', 'pay', { requestState, inputResponses: yes });
    expect(again.result?.resultType).toBe('input_required');
    expect(effects).toEqual(['step', 'paid']);
  });

  it('whose owner died is taken over, once its lease has lapsed', async () => {
    let time = Date.UTC(2026, 6, 28);
    const ledger = memoryLedger({ now: () => time });
    const effects: string[] = [];
    const server = (dies: boolean): Instance =>
      instance(
        (flows) => {
          flows.registerTool('pay', {}, async (flow) => {
            await flow.confirm('go', 'Pay?');
            await flow.step('quote', () => {
              effects.push('step');
              return dies ? new Promise<void>(() => undefined) : undefined;
            });
            await flow.once('pay', () => void effects.push('paid'));
            return { content: [{ type: 'text', text: 'done' }] };
          });
        },
        { ledger, singleUse: true, patience: 40 },
      );
    const [dying, other] = [server(true), server(false)];
    const request = { requestState: stateOf(await dying.call('tools/call', 'pay')), inputResponses: yes };
    void dying.call('tools/call', 'pay', request);
    await new Promise((resolve) => void setTimeout(resolve, 10));
    expect((await other.call('tools/call', 'pay', request)).error?.code).toBe(7003);
    time += 31_000;
    expect(textOf(await other.call('tools/call', 'pay', request))).toBe('done');
    expect(effects).toEqual(['step', 'step', 'paid']);
    expect(textOf(await other.call('tools/call', 'pay', request))).toBe('done');
    expect(effects).toHaveLength(3);
  });

  it('is stored sealed: neither answers, results, nor identities can be read in the ledger', async () => {
    const stored: string[] = [];
    const inner = memoryLedger();
    const ledger: Ledger = {
      claim: (request) => (stored.push(JSON.stringify(request)), inner.claim(request)),
      settle: (request) => (stored.push(JSON.stringify(request)), inner.settle(request)),
      extend: (request) => inner.extend(request),
      release: (request) => inner.release(request),
      put: (request) => (stored.push(JSON.stringify(request)), inner.put(request)),
      get: (key) => inner.get(key),
      close: () => inner.close(),
    };
    const { instances } = fleet(1, { ledger }, { id: 'coupon of alice@example.com' });
    const [a] = instances as [Instance];
    const auth = { token: 't', clientId: 'app-7', scopes: [], extra: { sub: 'alice' } };
    const asked = await a.call('tools/call', 'pay', { auth });
    const next = await a.call('tools/call', 'pay', {
      auth,
      requestState: stateOf(asked),
      inputResponses: yes,
    });
    await a.call('tools/call', 'pay', {
      auth,
      requestState: stateOf(next),
      inputResponses: { note: accept({ note: 'my secret note' }) },
    });
    expect(stored.length).toBeGreaterThan(4);
    const dump = stored.join();
    const readable =
      dump +
      dump.replaceAll(/parley1\.([\w-]+)/g, (_, text: string) =>
        Buffer.from(text, 'base64url').toString('latin1'),
      );
    for (const secret of ['alice', 'app-7', 'secret note', 'receipt', 'coupon', 'pay', 'confirm']) {
      expect(readable).not.toContain(secret);
    }
  });
});

describe('flow.once', () => {
  it('is done once though an older state is presented again, on a server whose rounds are not single-use', async () => {
    const { instances, effects } = fleet(2, { singleUse: false });
    const [a, b] = instances as [Instance, Instance];
    const requestState = stateOf(await a.call('tools/call', 'pay'));
    const request = { requestState, inputResponses: yes };
    await a.call('tools/call', 'pay', request);
    await b.call('tools/call', 'pay', request);
    await b.call('tools/call', 'pay', request);
    expect(effects.filter((effect) => effect === 'paid')).toHaveLength(1);
    expect(effects.filter((effect) => effect === 'step').length).toBeGreaterThan(1);
  });

  it('with an id is done once over all flows; who comes second gets the result of the first', async () => {
    const { instances, effects } = fleet(2, {}, { id: 'SUMMER' });
    const texts = await Promise.all(
      [0, 1].map(async (index) => {
        const server = instances[index] as Instance;
        const asked = await server.call('tools/call', 'pay');
        const next = await server.call('tools/call', 'pay', {
          requestState: stateOf(asked),
          inputResponses: yes,
        });
        const note = { note: accept({ note: 'x' }) };
        return textOf(
          await server.call('tools/call', 'pay', { requestState: stateOf(next), inputResponses: note }),
        );
      }),
    );
    expect(effects.filter((effect) => effect === 'paid')).toHaveLength(1);
    expect(texts[0]).toBe(texts[1]);
  });

  it('that threw throws the same again, and is not tried again', async () => {
    let runs = 0;
    const once = async (flow: McpFlow): Promise<string> => {
      const failing = flow.once('pay', () => {
        runs += 1;
        throw new RangeError('card refused');
      });
      return await failing.catch((error: unknown) => (error as Error).message);
    };
    const server = instance(
      (flows) => {
        flows.registerTool('pay', {}, async (flow) => {
          await flow.confirm('go', 'Go?');
          return { content: [{ type: 'text', text: await once(flow) }] };
        });
      },
      { ledger: memoryLedger() },
    );
    const request = { requestState: stateOf(await server.call('tools/call', 'pay')), inputResponses: yes };
    for (let index = 0; index < 3; index += 1) {
      expect(textOf(await server.call('tools/call', 'pay', request))).toBe(`Step 'pay' failed: card refused`);
    }
    expect(runs).toBe(1);
  });

  it('that was begun and never settled is OutcomeUnknown, and never a second execution', async () => {
    let time = Date.UTC(2026, 6, 28);
    const inner = memoryLedger({ now: () => time });
    // Its process dies in the middle: nothing settles, nothing extends.
    const dying: Ledger = {
      claim: (request) => inner.claim(request),
      settle: () => new Promise(() => undefined),
      extend: () => new Promise(() => undefined),
      release: () => new Promise(() => undefined),
      put: (request) => inner.put(request),
      get: (key) => inner.get(key),
      close: () => inner.close(),
    };
    const effects: string[] = [];
    const server = (ledger: Ledger): Instance =>
      instance(
        (flows) => {
          flows.registerTool('pay', {}, async (flow) => {
            await flow.confirm('go', 'Go?');
            await flow.once('pay', () => void effects.push('paid'));
            return { content: [{ type: 'text', text: 'done' }] };
          });
        },
        { ledger, ledgerTimeout: 30, patience: 60, singleUse: true },
      );
    const first = server(dying);
    const requestState = stateOf(await first.call('tools/call', 'pay'));
    const lost = await first.call('tools/call', 'pay', { requestState, inputResponses: yes });
    expect(lost.error).toMatchObject({ code: -32_603, data: { reason: 'unavailable' } });
    time += 31_000;
    const second = server(inner);
    const answer = await second.call('tools/call', 'pay', { requestState, inputResponses: yes });
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toMatch(/Whether 'pay' was done is not known/);
    expect(effects).toEqual(['paid']);
    // The same answer ever after, from the record of the round.
    expect(textOf(await second.call('tools/call', 'pay', { requestState, inputResponses: yes }))).toBe(
      textOf(answer),
    );
  });

  it('without a ledger is kept in the memory of the process, which is said once', async () => {
    let runs = 0;
    const server = instance((flows) => {
      flows.registerTool('pay', {}, async (flow) => {
        await flow.confirm('go', 'Go?');
        await flow.once('pay', () => void (runs += 1));
        return { content: [] };
      });
    });
    const request = { requestState: stateOf(await server.call('tools/call', 'pay')), inputResponses: yes };
    await server.call('tools/call', 'pay', request);
    await server.call('tools/call', 'pay', request);
    expect(runs).toBe(1);
    expect(server.warnings.filter((line) => line.includes('no ledger is configured'))).toHaveLength(1);
  });
});

/** A ledger that can be taken down: down it rejects, or hangs, or answers late. */
function breakable(): { ledger: Ledger; mode: (mode: 'up' | 'down' | 'hanging' | 'late') => void } {
  const inner = memoryLedger();
  let now: 'up' | 'down' | 'hanging' | 'late' = 'up';
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    if (now === 'down') throw new Error('ECONNREFUSED 10.0.0.1:6379');
    if (now === 'hanging') return await new Promise<T>(() => undefined);
    if (now === 'late') await new Promise((resolve) => void setTimeout(resolve, 150));
    return await call();
  };
  return {
    mode: (mode) => void (now = mode),
    ledger: {
      claim: (request) => through(() => inner.claim(request)),
      settle: (request) => through(() => inner.settle(request)),
      extend: (request) => through(() => inner.extend(request)),
      release: (request) => through(() => inner.release(request)),
      put: (request) => through(() => inner.put(request)),
      get: (key) => through(() => inner.get(key)),
      close: () => inner.close(),
    },
  };
}

describe('a ledger that fails', () => {
  it.each(['down', 'hanging', 'late'] as const)(
    '%s: the round fails closed, nothing runs, and the next try works',
    async (how) => {
      const { ledger, mode } = breakable();
      const { instances, effects } = fleet(1, { ledger });
      const [a] = instances as [Instance];
      const requestState = stateOf(await a.call('tools/call', 'pay'));
      mode(how);
      const failed = await a.call('tools/call', 'pay', { requestState, inputResponses: yes });
      expect(failed.error).toMatchObject({ code: -32_603, data: { reason: 'unavailable' } });
      expect(failed.text).not.toContain('ECONNREFUSED');
      expect(effects).toEqual([]);
      mode('up');
      await new Promise((resolve) => void setTimeout(resolve, 200)); // what answered late is given back
      const next = await a.call('tools/call', 'pay', { requestState, inputResponses: yes });
      expect(next.result?.resultType).toBe('input_required');
      expect(effects).toEqual(['step', 'paid']);
    },
  );

  it('that comes back learns what was done while it was away', async () => {
    const { ledger, mode } = breakable();
    const { instances, effects } = fleet(
      1,
      { ledger, singleUse: false },
      {
        before: () => {
          mode('down');
          return Promise.resolve();
        },
      },
    );
    const [a] = instances as [Instance];
    const requestState = stateOf(await a.call('tools/call', 'pay'));
    const failed = await a.call('tools/call', 'pay', { requestState, inputResponses: yes });
    expect(failed.error?.code).toBe(-32_603);
    mode('up');
    await new Promise((resolve) => void setTimeout(resolve, 800));
    const next = await a.call('tools/call', 'pay', { requestState, inputResponses: yes });
    expect(next.result?.resultType).toBe('input_required');
    expect(effects.filter((effect) => effect === 'paid')).toHaveLength(1);
  });
});

describe('a journal that is too large for a state', () => {
  function large(options: ParleyOptions): Instance {
    return instance((flows) => {
      flows.registerTool('t', {}, async (flow) => {
        const text = await flow.step('large', () => 'x'.repeat(100_000));
        await flow.confirm('go', 'Go?');
        return { content: [{ type: 'text', text: String(text.length) }] };
      });
    }, options);
  }

  it('goes to the ledger, sealed, and the state carries its reference', async () => {
    const ledger = memoryLedger();
    const [a, b] = [large({ ledger }), large({ ledger })];
    const asked = await a.call('tools/call', 't');
    expect(stateOf(asked).length).toBeLessThan(1_000);
    const done = await b.call('tools/call', 't', { requestState: stateOf(asked), inputResponses: yes });
    expect(textOf(done)).toBe('100000');
  });

  it('is rejected when the ledger does not have it any more', async () => {
    const asked = await large({ ledger: memoryLedger() }).call('tools/call', 't');
    for (const options of [{ ledger: memoryLedger() }, {}]) {
      const other = large(options);
      await other.call('tools/call', 't', { requestState: stateOf(asked), inputResponses: yes });
      expect(other.rejections).toEqual(['journal']);
    }
  });

  it('is an error without a ledger, and above limits.overflowBytes', async () => {
    for (const options of [{}, { ledger: memoryLedger(), limits: { overflowBytes: 50_000 } }]) {
      const answer = await large(options).call('tools/call', 't');
      expect(answer.result?.isError).toBe(true);
      expect(textOf(answer)).toContain(`Largest entries: 'large'`);
    }
  });

  it('waits for a ledger that is away, as an error that says to send it again', async () => {
    const { ledger, mode } = breakable();
    const server = large({ ledger, ledgerTimeout: 40 });
    const asked = await server.call('tools/call', 't');
    mode('down');
    const failed = await server.call('tools/call', 't', {
      requestState: stateOf(asked),
      inputResponses: yes,
    });
    expect(failed.error).toMatchObject({ code: -32_603, data: { reason: 'unavailable' } });
    mode('up');
    const done = await server.call('tools/call', 't', { requestState: stateOf(asked), inputResponses: yes });
    expect(textOf(done)).toBe('100000');
  });
});

describe('what reviewers found', () => {
  /** Work that a ledger runs in a transaction of its store; this store has none, and settles at once. */
  function transactionOn(ledger: Ledger, work: () => unknown): () => unknown {
    const run: TransactionWork<unknown>[typeof TRANSACTION] = async (claim, record) => {
      const { value } = await record(async () => await Promise.resolve(work()));
      return await ledger.settle({ ...claim, value });
    };
    return Object.assign(() => undefined, { [TRANSACTION]: run });
  }

  it('plain work that lapsed is not taken over by work in a transaction under the same id', async () => {
    let time = Date.UTC(2026, 6, 28);
    const ledger = memoryLedger({ now: () => time });
    const effects: string[] = [];
    let end: () => void = () => undefined;
    const server = (work: () => unknown): Instance =>
      instance(
        (flows) => {
          flows.registerTool('t', {}, async (flow) => {
            await flow.once('redeem', work as () => undefined, { id: 'SUMMER' });
            return { content: [{ type: 'text', text: 'done' }] };
          });
        },
        { ledger, patience: 40 },
      );
    const slow = server(async () => {
      await new Promise<void>((resolve) => void (end = resolve));
      effects.push('plain');
    });
    const running = slow.call('tools/call', 't');
    await new Promise((resolve) => void setTimeout(resolve, 10));
    time += 31_000;
    const other = await server(transactionOn(ledger, () => effects.push('transaction'))).call(
      'tools/call',
      't',
    );
    expect(textOf(other)).toMatch(/Whether 'redeem' was done is not known/);
    end();
    expect(textOf(await running)).toBe('done');
    expect(effects).toEqual(['plain']);
  });

  it('work is not begun any more when its run was answered while it waited for the claim', async () => {
    const inner = memoryLedger();
    let claimed: () => void = () => undefined;
    const held = new Promise<void>((resolve) => void (claimed = resolve));
    const ledger: Ledger = {
      ...delegating(inner),
      claim: async (request) => {
        await held;
        return await inner.claim(request);
      },
    };
    let paid = 0;
    const server = instance(
      (flows) => {
        flows.registerTool('t', {}, async (flow) => {
          await Promise.all([
            flow.once('pay', () => void (paid += 1)),
            flow.step('validate', () => {
              throw new Error('invalid order');
            }),
          ]);
          return { content: [] };
        });
      },
      { ledger },
    );
    expect(textOf(await server.call('tools/call', 't'))).toContain('invalid order');
    claimed();
    await new Promise((resolve) => void setTimeout(resolve, 20));
    expect(paid).toBe(0);
  });

  it('the record of work with an id is kept for as long as its flow may live', async () => {
    const ttls: number[] = [];
    const inner = memoryLedger();
    const ledger: Ledger = {
      ...delegating(inner),
      settle: (request) => {
        ttls.push(request.ttl);
        return inner.settle(request);
      },
    };
    const days = 24 * 60 * 60_000;
    const server = instance(
      (flows) => {
        flows.registerTool('t', {}, async (flow) => {
          await flow.once('a', () => 1, { id: 'x' });
          await flow.once('b', () => 1, { id: 'x', keep: 1 });
          return { content: [] };
        });
      },
      { ledger, deadline: 60 * days },
    );
    await server.call('tools/call', 't');
    expect(ttls.length).toBe(2);
    for (const ttl of ttls) expect(ttl).toBeGreaterThanOrEqual(60 * days);
  });

  it('the JSON-RPC error of a handler by hand stays one, and is not put on record', async () => {
    let fails = true;
    const server = instance(
      (_flows, mcp) => {
        mcp.server.registerCapabilities({ tools: {} });
        mcp.server.setRequestHandler('tools/call', (_request, ctx): InputRequiredResult | CallToolResult => {
          if (ctx.mcpReq.requestState() === undefined) return inputRequired({ requestState: 'asked' });
          if (fails)
            throw Object.assign(new Error('quota exceeded'), { code: 7100, data: { retryAfter: 5 } });
          return { content: [{ type: 'text', text: 'done' }] };
        });
      },
      { singleUse: true, ledger: memoryLedger() },
    );
    const requestState = stateOf(await server.call('tools/call', 't'));
    const failed = await server.call('tools/call', 't', { requestState });
    expect(failed.error).toEqual({ code: 7100, message: 'quota exceeded', data: { retryAfter: 5 } });
    fails = false;
    expect(textOf(await server.call('tools/call', 't', { requestState }))).toBe('done');
  });

  it('a lost reply to one extension does not end the extending of a claim', async () => {
    let extensions = 0;
    let thirdExtension: () => void = () => undefined;
    const extendedThrice = new Promise<void>((resolve) => void (thirdExtension = resolve));
    const ledger: Ledger = {
      ...delegating(memoryLedger()),
      extend: () => {
        extensions += 1;
        if (extensions === 3) thirdExtension();
        return new Promise(() => undefined);
      },
    };
    const server = instance(
      (flows) => {
        flows.registerTool('t', {}, async (flow) => {
          await flow.once('pay', () => extendedThrice);
          return { content: [{ type: 'text', text: 'done' }] };
        });
      },
      { ledger, lease: 30, ledgerTimeout: 20 },
    );
    expect(textOf(await server.call('tools/call', 't'))).toBe('done');
  });

  it('an outage does not multiply: what is to be told later is told by one loop', async () => {
    let calls = 0;
    const ledger: Ledger = {
      ...delegating(memoryLedger()),
      claim: () => Promise.reject(new Error('down')),
      release: () => {
        calls += 1;
        return Promise.reject(new Error('down'));
      },
    };
    const server = instance(
      (flows) => {
        flows.registerTool('t', {}, async (flow) => {
          await flow.once('pay', () => 1);
          return { content: [] };
        });
      },
      { ledger, ledgerTimeout: 10 },
    );
    await Promise.all(Array.from({ length: 50 }, () => server.call('tools/call', 't')));
    await new Promise((resolve) => void setTimeout(resolve, 600));
    expect(calls).toBeLessThan(5);
    expect(
      server.warnings.filter((line) => line.includes('the ledger gave no answer (claim): down')),
    ).toHaveLength(1);
  });
});

function delegating(inner: Ledger): Ledger {
  return {
    claim: (request) => inner.claim(request),
    settle: (request) => inner.settle(request),
    extend: (request) => inner.extend(request),
    release: (request) => inner.release(request),
    put: (request) => inner.put(request),
    get: (key) => inner.get(key),
    close: () => inner.close(),
  };
}
