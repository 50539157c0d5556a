import { setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Flow } from '../../src/flow/index.js';
import { askText, runRound } from './host.js';

const collect = globalThis.gc;
const FLOWS = 100_000;
const AT_ONCE = 1_000;
const MEGABYTE = 1024 * 1024;

/** Bytes of the heap that are in use, after everything that can be collected was. */
async function heap(): Promise<number> {
  for (let times = 0; times < 3; times += 1) {
    await new Promise((resolve) => void setImmediate(resolve));
    await collect?.({ type: 'major', execution: 'async' });
  }
  return process.memoryUsage().heapUsed;
}

async function handler(flow: Flow<undefined>): Promise<string> {
  const { signal } = flow;
  const onAbort = (): void => undefined;
  signal.addEventListener('abort', onAbort);
  try {
    const step = await flow.step('work', () => ({ id: flow.id, text: 'x'.repeat(100) }));
    return `${step.id} ${await askText(flow, 'q')}`;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function start(count: number, signal?: AbortSignal): Promise<void> {
  for (let started = 0; started < count; started += AT_ONCE) {
    const outcomes = await Promise.all(
      Array.from({ length: AT_ONCE }, () => runRound(handler, signal && { signal })),
    );
    if (outcomes.some(({ type }) => type !== 'suspended')) throw new Error('a flow was not suspended');
  }
}

describe('flows that are never continued (MRTR-S-09)', () => {
  it.skipIf(collect === undefined)('leave nothing behind, 100,000 of them', { timeout: 60_000 }, async () => {
    await start(5 * AT_ONCE);
    const before = await heap();
    await start(FLOWS);
    expect((await heap()) - before).toBeLessThan(5 * MEGABYTE);
  });

  it.skipIf(collect === undefined)(
    'leave nothing on a signal that outlives them',
    { timeout: 60_000 },
    async () => {
      const { signal } = new AbortController();
      setMaxListeners(AT_ONCE, signal);
      await start(AT_ONCE, signal);
      const before = await heap();
      await start(20 * AT_ONCE, signal);
      expect((await heap()) - before).toBeLessThan(5 * MEGABYTE);
    },
  );

  it.skipIf(collect === undefined)(
    'leave nothing behind when they went on as tasks, or their commits never end',
    { timeout: 60_000 },
    async () => {
      const task = async (flow: Flow<undefined>): Promise<void> => {
        flow.uuid();
        await flow.step('work', () => 'x'.repeat(100));
        await flow.detach();
      };
      const never = (): Promise<void> => new Promise(() => undefined);
      const detach = async (count: number): Promise<void> => {
        for (let started = 0; started < count; started += AT_ONCE) {
          await Promise.all(Array.from({ length: AT_ONCE }, () => runRound(task, { detached: 'possible' })));
          const worker = new AbortController();
          setMaxListeners(AT_ONCE, worker.signal);
          const stuck = Array.from({ length: AT_ONCE }, () =>
            runRound(task, { detached: 'done', commit: never, signal: worker.signal }),
          );
          worker.abort();
          await Promise.all(stuck);
        }
      };
      await detach(AT_ONCE);
      const before = await heap();
      await detach(20 * AT_ONCE);
      expect((await heap()) - before).toBeLessThan(5 * MEGABYTE);
    },
  );

  it.skipIf(collect === undefined)(
    'are collected even while something that they called goes on',
    { timeout: 60_000 },
    async () => {
      const finished = new FinalizationRegistry<string>((name) => void collected.add(name));
      const collected = new Set<string>();
      let never: Promise<void> | undefined = new Promise<void>(() => undefined);
      await (async () => {
        await runRound(async (flow) => {
          finished.register(flow, 'flow');
          await askText(flow, 'q');
          return await never;
        });
      })();
      for (let times = 0; times < 20 && collected.size === 0; times += 1) await heap();
      expect([...collected]).toEqual(['flow']);
      never = undefined;
    },
  );
});
