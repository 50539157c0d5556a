import { describe, expect, it } from 'vitest';
import type { Flow } from '../../src/flow/index.js';
import { rehearse } from '../../src/testing/index.js';
import { accept, askText, keysOf, nextRound, runRound, testHost, turns } from './host.js';

describe('a suspended handler', () => {
  it('runs neither catch nor finally, nor anything after the question', async () => {
    const ran: string[] = [];
    const outcome = await runRound(async (flow) => {
      try {
        await askText(flow, 'q');
        ran.push('after');
      } catch {
        ran.push('catch');
      } finally {
        ran.push('finally');
      }
    });
    await turns(5);
    expect(keysOf(outcome)).toEqual(['q']);
    expect(ran).toEqual([]);
  });

  it('runs finally once the body is really over', async () => {
    const ran: string[] = [];
    const handler = async (flow: Flow<undefined>): Promise<string> => {
      try {
        return await askText(flow, 'q');
      } finally {
        ran.push('finally');
      }
    };
    const first = await runRound(handler);
    expect(ran).toEqual([]);
    expect(await runRound(handler, nextRound(first, { q: accept({ text: 'x' }) }))).toMatchObject({
      type: 'completed',
      value: 'x',
    });
    expect(ran).toEqual(['finally']);
  });

  it('catches a refused question as what it is', async () => {
    const handler = async (flow: Flow<undefined>): Promise<string> => {
      try {
        return await askText(flow, 'q');
      } catch (error) {
        return `caught ${String(error)}`;
      }
    };
    const first = await runRound(handler);
    const second = await runRound(handler, nextRound(first, { q: { action: 'decline' } }));
    expect(second).toMatchObject({
      type: 'completed',
      value: expect.stringMatching(/^caught InputRefused: The question 'q' was declined/) as string,
    });
  });
});

describe('a late call into a flow', () => {
  it('never settles, does no work, and one warning names the first', async () => {
    const host = testHost();
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const happened: string[] = [];
    const outcome = await runRound(
      async (flow) => {
        const note = (what: string) => (): void => void happened.push(what);
        void gate.then(() => flow.step('late step', note('ran')).then(note('step'), note('step failed')));
        void gate.then(() => askText(flow, 'late question').then(note('question'), note('question failed')));
        void gate.then(() => flow.waitFor('late wait', () => 1).then(note('wait'), note('wait failed')));
        void gate.then(() =>
          flow.step('__proto__', note('ran')).then(note('bad key'), note('bad key failed')),
        );
        await askText(flow, 'q');
      },
      { host },
    );
    expect(keysOf(outcome)).toEqual(['q']);
    expect(host.warnings).toEqual([]);
    release();
    await turns(5);
    expect(happened).toEqual([]);
    expect(host.warnings).toHaveLength(1);
    expect(host.warnings[0]).toMatch(/flow\.step\('late step'\).*never settles/);
  });

  it('after a completed flow is the ordinary end of a lost race, and no work outside of a step: no such warning', async () => {
    const { outcome, warnings } = await rehearse(async (flow: Flow) => {
      const loser = async (): Promise<string> => {
        for (let index = 0; index < 20; index += 1) await undefined;
        return await askText(flow, 'q');
      };
      return await Promise.race([loser(), 'quick']);
    });
    await turns(5);
    expect(outcome).toEqual({ type: 'completed', value: 'quick' });
    expect(warnings).toEqual([]);
  });

  it('gives unrecorded times and numbers, since something must be given', async () => {
    const seen: unknown[] = [];
    const outcome = await runRound(async (flow) => {
      void turns(8).then(() => seen.push(flow.now(), typeof flow.random(), typeof flow.uuid()));
      await askText(flow, 'q');
    });
    await turns(12);
    expect(outcome.journal).toEqual([]);
    expect(seen).toEqual([1_000, 'number', 'string']);
  });
});

describe('flow.signal', () => {
  it('aborts on suspension', async () => {
    let signal: AbortSignal | undefined;
    await runRound(async (flow) => {
      ({ signal } = flow);
      expect(signal.aborted).toBe(false);
      await askText(flow, 'q');
    });
    expect(signal?.aborted).toBe(true);
  });

  it('aborts on completion and on failure', async () => {
    for (const end of [() => 1, () => Promise.reject(new Error('no'))]) {
      let signal: AbortSignal | undefined;
      await runRound((flow) => {
        ({ signal } = flow);
        return end();
      });
      expect(signal?.aborted).toBe(true);
    }
  });

  it('is aborted when it is first looked at after the end', async () => {
    let kept: Flow<undefined> | undefined;
    await runRound((flow) => void (kept = flow));
    expect(kept?.signal.aborted).toBe(true);
  });

  it('aborts when the client hangs up, and the run fails with the reason', async () => {
    const client = new AbortController();
    let signal: AbortSignal | undefined;
    const running = runRound(
      async (flow) => {
        ({ signal } = flow);
        await flow.step('slow', () => turns(50));
      },
      { signal: client.signal },
    );
    client.abort(new Error('hung up'));
    expect(await running).toMatchObject({ type: 'failed', error: { message: 'hung up' } });
    expect(signal?.aborted).toBe(true);
  });

  it('does not start a run whose client has gone', async () => {
    let started = false;
    const outcome = await runRound(() => void (started = true), {
      signal: AbortSignal.abort(new Error('gone')),
    });
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'gone' } });
    expect(started).toBe(false);
  });

  it('leaves no listener on the signal of the request (MRTR-S-09)', async () => {
    const client = new AbortController();
    let listeners = 0;
    const { signal } = client;
    const counted = Object.assign(signal, {
      addEventListener: (...args: Parameters<AbortSignal['addEventListener']>) => {
        listeners += 1;
        AbortSignal.prototype.addEventListener.apply(signal, args);
      },
      removeEventListener: (...args: Parameters<AbortSignal['removeEventListener']>) => {
        listeners -= 1;
        AbortSignal.prototype.removeEventListener.apply(signal, args);
      },
    });
    await runRound((flow) => askText(flow, 'q'), { signal: counted });
    await runRound(() => 1, { signal: counted });
    expect(listeners).toBe(0);
  });
});

describe('outcomes', () => {
  it('takes a handler that is not asynchronous', async () => {
    expect(await runRound(() => 5)).toMatchObject({ type: 'completed', value: 5 });
    expect(
      await runRound(() => {
        throw new Error('no');
      }),
    ).toMatchObject({ type: 'failed', error: { message: 'no' } });
  });

  it('ends when the handler ends, whatever is still pending', async () => {
    const outcome = await runRound(async (flow) => {
      void askText(flow, 'q');
      void flow.step('slow', () => turns(20));
      return await flow.step('quick', () => 'done');
    });
    expect(outcome).toMatchObject({ type: 'completed', value: 'done' });
  });
});
