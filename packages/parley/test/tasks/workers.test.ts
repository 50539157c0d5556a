import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { generateKey, Parley, type Flows, type ParleyOptions } from '../../src/index.js';
import { MemoryTaskStore } from '../../src/tasks/memory-store.js';
import {
  memoryTasks,
  startWorker,
  StoredTasks,
  type TaskStore,
  type TaskWorker,
} from '../../src/tasks/index.js';
import { TEST_KEY } from '../gate/wire-harness.js';
import { accept, taskServer, text, type TaskServer } from './harness.js';

/** A store that several processes would share, and its clock. */
function shared(): {
  readonly store: MemoryTaskStore;
  readonly pass: (ms: number) => void;
  readonly now: () => number;
} {
  let now = Date.now();
  const clock = (): number => now;
  return {
    store: new MemoryTaskStore({ maxTasks: 100, now: clock }),
    now: clock,
    pass: (ms) => void (now += ms),
  };
}

const TIMES = { ttl: 60_000, pollInterval: 10 };

const stops: TaskWorker[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((worker) => worker.stop()));
});

/** A process that makes tasks and runs none. */
function front(
  store: TaskStore,
  setup: (flows: Flows) => void,
  options: Partial<ParleyOptions> = {},
): TaskServer {
  return taskServer(setup, { tasks: new StoredTasks(store, TIMES), ...options });
}

/** A process that runs them. */
async function worker(
  store: TaskStore,
  setup: (flows: Flows) => void,
  options: Partial<ParleyOptions> = {},
  concurrency = 4,
): Promise<TaskWorker> {
  const parley = new Parley({
    keys: TEST_KEY,
    logger: { warn: () => undefined },
    tasks: new StoredTasks(store, TIMES),
    ...options,
  });
  const started = await startWorker(
    parley,
    () => {
      const mcp = new McpServer({ name: 'tasks-test', version: '1.0.0' });
      setup(parley.attach(mcp));
      return mcp;
    },
    { concurrency },
  );
  stops.push(started);
  return started;
}

function report(flows: Flows): void {
  flows.registerTool('report', { task: 'optional' }, async (flow) => {
    const rows = await flow.step('rows', () => 7);
    const ok = await flow.confirm('send', `Send ${rows}?`);
    return text(`${rows} ${ok} ${flow.ctx.http?.authInfo?.clientId ?? 'nobody'}`);
  });
}

describe('workers', () => {
  it('run tasks that another process made, and go on with those of another worker', async () => {
    const { store, now } = shared();
    const server = front(store, report, { now });
    const first = await worker(store, report, { now });
    const id = await server.begin('report');
    await server.until(id, 'input_required');
    await first.stop();
    await server.update(id, { send: accept({ confirm: true }) });
    expect((await server.get(id)).status).toBe('working');
    await worker(store, report, { now });
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('7 true nobody');
  });

  it('shape a result as the newest protocol has it, on a server that no client ever connected to', async () => {
    const { store, now } = shared();
    const setup = (flows: Flows): void =>
      void flows.registerTool('list', { task: 'optional' }, async () => ({
        ...text('l'),
        structuredContent: [1, 2] as never,
      }));
    const server = front(store, setup, { now });
    await worker(store, setup, { now });
    const done = await server.until(await server.begin('list'), 'completed');
    expect(done.result?.structuredContent).toEqual([1, 2]);
  });

  it('leave a task to others whose tool they do not have, or have in another version', async () => {
    const { store, now, pass } = shared();
    const of =
      (version: string, accepts: readonly string[] = []) =>
      (flows: Flows) =>
        void flows.registerTool('t', { task: 'optional', version, accepts }, async () => text(version));
    const server = front(store, of('1'), { now });
    const id = await server.begin('t');
    const nothing = await worker(store, report, { now });
    await nothing.stop();
    pass(6_000);
    const newer = await worker(store, of('2'), { now });
    await newer.stop();
    expect((await server.get(id)).status).toBe('working');
    pass(6_000);
    await worker(store, of('3', ['1']), { now });
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('3');
  });

  it('leave a task to others whose name is a handler written by hand here', async () => {
    const { store, now, pass } = shared();
    let ran = false;
    const server = front(store, report, { now });
    const id = await server.begin('report');
    const parley = new Parley({
      keys: TEST_KEY,
      logger: { warn: () => undefined },
      tasks: new StoredTasks(store, TIMES),
      now,
    });
    const foreign = await startWorker(parley, () => {
      const mcp = new McpServer({ name: 'tasks-test', version: '1.0.0' });
      parley.attach(mcp);
      mcp.registerTool('report', {}, () => {
        ran = true;
        return text('by hand');
      });
      return mcp;
    });
    await foreign.stop();
    expect(ran).toBe(false);
    pass(6_000);
    await worker(store, report, { now });
    await server.until(id, 'input_required');
  });

  it('leave a task to others that was sealed under keys which they do not have', async () => {
    const { store, now, pass } = shared();
    const server = front(store, report, { now });
    const id = await server.begin('report');
    const stranger = await worker(store, report, { now, keys: generateKey() });
    await stranger.stop();
    expect((await server.get(id)).status).toBe('working');
    pass(6_000);
    await worker(store, report, { now });
    await server.until(id, 'input_required');
  });

  it('take over from one that died, and do not do again what was recorded', async () => {
    const { store, now, pass } = shared();
    let rows = 0;
    let dies = true;
    const setup = (flows: Flows): void =>
      void flows.registerTool('t', { task: 'optional' }, async (flow) => {
        const key = flow.uuid();
        await flow.step('rows', () => void (rows += 1));
        const seen = await flow.step('late', () => (dies ? new Promise<string>(() => undefined) : key));
        return text(`${key === seen}`);
      });
    const server = front(store, setup, { now });
    // It hangs for ever, and its clock stands still: to the store it is dead once its lease is over.
    const hanging: TaskStore = new Proxy(store, {
      get(target, property: keyof TaskStore) {
        if (property === 'extend') return async () => 'held';
        const member: unknown = target[property];
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    await worker(hanging, setup, { now, lease: 1_000 }, 1);
    stops.length = 0; // it never stops
    const id = await server.begin('t');
    await server.until(id, () => rows === 1);
    dies = false;
    pass(1_001);
    await worker(store, setup, { now });
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('true');
    expect(rows).toBe(1);
  });

  it('fail a task at last whose every run dies', async () => {
    const { store, now, pass } = shared();
    const server = front(store, report, { now });
    const id = await server.begin('report');
    for (let run = 0; run < 5; run += 1) {
      expect(await store.claim(id, 10)).toBeDefined();
      pass(11);
    }
    await worker(store, report, { now });
    const failed = await server.until(id, 'failed');
    expect(failed.error?.code).toBe(-32_603);
  });

  it('see what is running through when they are stopped', async () => {
    const { store, now } = shared();
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => void (finish = resolve));
    const setup = (flows: Flows): void =>
      void flows.registerTool('t', { task: 'optional' }, async (flow) => {
        await flow.step('long', () => held);
        return text('done');
      });
    const server = front(store, setup, { now });
    const running = await worker(store, setup, { now });
    const id = await server.begin('t');
    await server.until(id, () => true);
    await new Promise((resolve) => void setImmediate(resolve));
    const stopped = running.stop();
    finish();
    await stopped;
    expect((await server.get(id)).status).toBe('completed');
  });

  it('try again later when the ledger is away', async () => {
    const { store, now, pass } = shared();
    let away = true;
    const ledger = {
      claim: async () => {
        if (away) throw new Error('away');
        return { type: 'granted' as const };
      },
      settle: async () => true,
      extend: async () => true,
      release: async () => true,
      put: async () => undefined,
      get: async () => undefined,
      close: async () => undefined,
    };
    const setup = (flows: Flows): void =>
      void flows.registerTool('t', { task: 'optional' }, async (flow) =>
        text(await flow.once('pay', () => 'paid')),
      );
    const options = { now, ledger, ledgerTimeout: 20 };
    const server = front(store, setup, options);
    const id = await server.begin('t');
    const first = await worker(store, setup, options);
    await first.stop();
    expect((await server.get(id)).status).toBe('working');
    away = false;
    pass(1_001);
    await worker(store, setup, options);
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('paid');
  });

  it.each(['finish', 'append', 'park', 'release'] as const)(
    'try again later when the store is away (%s), and lose nothing',
    async (method) => {
      const { store, now, pass } = shared();
      let away = 2;
      const flaky: TaskStore = new Proxy(store, {
        get(target, property: keyof TaskStore) {
          const member: unknown = target[property];
          if (typeof member !== 'function') return member;
          if (property === method && (away -= 1) >= 0) return async () => Promise.reject(new Error('away'));
          return member.bind(target) as unknown;
        },
      });
      let steps = 0;
      const setup = (flows: Flows): void =>
        void flows.registerTool('t', { task: 'optional' }, async (flow) => {
          await flow.confirm('ok', 'ok?');
          await flow.step('one', () => void (steps += 1));
          return text('done');
        });
      const server = front(store, setup, { now });
      const id = await server.begin('t');
      const tries = async (until: string): Promise<void> => {
        for (let count = 0; count < 5; count += 1) {
          const one = await worker(flaky, setup, { now, lease: 3_000 });
          await one.stop();
          if ((await server.get(id)).status === until) return;
          pass(6_000);
        }
        throw new Error(`It is not ${until}.`);
      };
      await tries('input_required');
      await server.update(id, { ok: accept({ confirm: true }) });
      await tries('completed');
      expect(steps).toBe(1);
    },
  );

  it('hold nothing readable, and nothing that opens in another place', async () => {
    const { store, now, pass } = shared();
    const kept: string[] = [];
    const watched: TaskStore = new Proxy(store, {
      get(target, property: keyof TaskStore) {
        const member: unknown = target[property];
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          kept.push(JSON.stringify(args) ?? '');
          return (member as (...all: unknown[]) => unknown).apply(target, args);
        };
      },
    });
    const server = front(watched, report, { now });
    const first = await worker(watched, report, { now });
    const one = await server.begin('report', { arguments: { secret: 'argument' } });
    await server.until(one, 'input_required');
    await server.update(one, { send: accept({ confirm: true }) });
    await server.until(one, 'completed');
    await first.stop();
    const all = kept.join('\n');
    for (const secret of ['report', 'argument', 'rows', 'Send 7', 'confirm', '"send"'])
      expect(all).not.toContain(secret);

    // Somebody who can write the store moves the head of one task to another: that one does not open.
    const two = await server.begin('report');
    await store.claim(two, 10);
    const row = await store.read(two);
    const forged = 'B'.repeat(22);
    await store.create({
      id: forged,
      flow: 'f',
      principal: row?.principal ?? '',
      head: row?.head ?? '',
      createdAt: now(),
      ttl: 1_000_000,
      expiresAt: now() + 1_000_000,
      pollInterval: 1,
      markUntil: now() + 1_000_000,
    });
    expect((await server.send('tasks/get', { taskId: forged })).error?.code).toBe(-32_603);
    pass(20);
    const next = await worker(store, report, { now });
    await server.until(two, 'input_required');
    await next.stop();
    expect((await store.read(forged))?.state).toBe('active');
  });
});

describe('starting a worker', () => {
  const attached = (parley: Parley) => () => {
    const mcp = new McpServer({ name: 'tasks-test', version: '1.0.0' });
    parley.attach(mcp);
    return mcp;
  };
  const quiet = { keys: TEST_KEY, logger: { warn: () => undefined } };

  it('is refused where it makes no sense, in words that say why', async () => {
    const inMemory = new Parley({ ...quiet, tasks: memoryTasks() });
    await expect(startWorker(inMemory, attached(inMemory))).rejects.toThrow(/need no worker/);
    const without = new Parley(quiet);
    await expect(startWorker(without, attached(without))).rejects.toThrow(/has no tasks/);
    const tasks = new StoredTasks(shared().store, TIMES);
    const one = new Parley({ ...quiet, tasks });
    await expect(startWorker(one, attached(without))).rejects.toThrow(/not attached to this Parley/);
    await expect(startWorker(one, attached(one), { concurrency: 0 })).rejects.toThrow(/positive/);
  });

  it('a store of tasks belongs to one server name', () => {
    const parley = new Parley({ ...quiet, tasks: new StoredTasks(shared().store, TIMES) });
    parley.attach(new McpServer({ name: 'one', version: '1' }));
    expect(() => parley.attach(new McpServer({ name: 'two', version: '1' }))).toThrow(/store of tasks/);
  });

  it('tasks in memory serve servers of several names', () => {
    const parley = new Parley({ ...quiet, tasks: memoryTasks() });
    parley.attach(new McpServer({ name: 'one', version: '1' }));
    parley.attach(new McpServer({ name: 'two', version: '1' }));
  });
});
