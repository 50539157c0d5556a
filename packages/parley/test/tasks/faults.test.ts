import { McpServer, ProtocolError, type AuthInfo } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { afterEach, describe, expect, it } from 'vitest';
import {
  generateKey,
  memoryLedger,
  Parley,
  type Flows,
  type FlowToolHandler,
  type ParleyOptions,
} from '../../src/index.js';
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

/** In ms. Short, where a test waits for its end. */
const LEASE = 150;

const TIMES = { ttl: 60_000, pollInterval: 10 };
const schema = z.object({ name: z.string() });

const stops: TaskWorker[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((worker) => worker.stop()));
});

type Setup = (flows: Flows) => void;

function tool(handler: FlowToolHandler<undefined>): Setup {
  return (flows) => void flows.registerTool('t', { task: 'optional' }, handler);
}

/** A store with a clock of its own, whose calls may be replaced. */
function faulty(replaced: Partial<TaskStore> = {}): {
  readonly memory: MemoryTaskStore;
  readonly store: TaskStore;
  readonly replaced: Partial<TaskStore>;
  readonly now: () => number;
  readonly pass: (ms: number) => void;
} {
  let time = Date.now();
  const now = (): number => time;
  const memory = new MemoryTaskStore({ maxTasks: 100, now });
  const store: TaskStore = new Proxy(memory, {
    get(target, property: keyof TaskStore) {
      const member: unknown = replaced[property] ?? target[property];
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  return { memory, store, replaced, now, pass: (ms) => void (time += ms) };
}

function front(store: TaskStore, setup: Setup, options: Partial<ParleyOptions> = {}): TaskServer {
  return taskServer(setup, { tasks: new StoredTasks(store, TIMES), ...options });
}

async function worker(
  store: TaskStore,
  setup: Setup,
  options: Partial<ParleyOptions> = {},
): Promise<TaskWorker> {
  const parley = new Parley({
    keys: TEST_KEY,
    logger: { warn: () => undefined },
    tasks: new StoredTasks(store, TIMES),
    ...options,
  });
  const factory = (): McpServer => {
    const mcp = new McpServer({ name: 'tasks-test', version: '1.0.0' });
    setup(parley.attach(mcp));
    return mcp;
  };
  const started = await startWorker(parley, factory, { concurrency: 4 });
  stops.push(started);
  return started;
}

describe('a store that fails at one moment', () => {
  it('does not end a task with its own error: the run is done again', async () => {
    const { memory, store, replaced, now, pass } = faulty();
    replaced.finish = async () => {
      delete replaced.finish;
      throw new Error('connect ECONNREFUSED 10.0.0.7:5432');
    };
    const setup = tool(async (flow) => text(await flow.step('one', () => 'done')));
    const server = front(memory, setup, { now });
    const id = await server.begin('t');
    await (await worker(store, setup, { now })).stop();
    expect(await server.get(id)).toMatchObject({ status: 'working' });
    pass(1_001);
    await worker(store, setup, { now });
    expect((await server.until(id, 'completed')).result).toMatchObject(text('done'));
  });

  it('answers with the task that was stored, though it cannot be read a moment later', async () => {
    const { memory, store, replaced, now } = faulty();
    const server = front(
      store,
      tool(() => text('done')),
      { now },
    );
    replaced.read = async () => {
      throw new Error('away');
    };
    const id = await server.begin('t');
    delete replaced.read;
    expect(memory.size).toBe(1);
    expect((await server.get(id)).status).toBe('working');
  });

  it('ends a run at the end of its lease, when the store does not even say no', async () => {
    const { memory, store, replaced, now } = faulty();
    let begun = (): void => undefined;
    const started = new Promise<void>((resolve) => void (begun = resolve));
    let isAborted = false;
    const setup = tool(async (flow) => {
      await flow.step('long', async ({ signal }) => {
        begun();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        isAborted = true;
      });
      return text('unseen');
    });
    const server = front(memory, setup, { now });
    const id = await server.begin('t');
    replaced.extend = () => new Promise<never>(() => undefined);
    const running = await worker(store, setup, { now, lease: LEASE });
    await started;
    await running.stop();
    expect(isAborted).toBe(true);
    expect((await memory.read(id))?.state).toBe('active');
  });

  it('lets a single-use round be sent again whose task could not be stored, and makes one task then', async () => {
    const { memory, store, replaced, now } = faulty();
    const setup: Setup = (flows) =>
      void flows.registerTool('t', { singleUse: true }, async (flow) => {
        const { name } = await flow.form('a', { message: 'A?', schema });
        await flow.detach();
        return text(name);
      });
    const server = front(store, setup, { now, ledger: memoryLedger() });
    const first = await server.tool('t');
    const last = {
      requestState: first.result?.requestState,
      inputResponses: { a: accept({ name: 'A' }) },
    };
    replaced.create = async () => {
      delete replaced.create;
      throw new Error('away');
    };
    expect((await server.tool('t', last)).error).toMatchObject({
      code: -32_603,
      data: { reason: 'unavailable' },
    });
    const id = await server.begin('t', last);
    expect(await server.begin('t', last)).toBe(id);
    expect(memory.size).toBe(1);
  });

  it('cancels a task whose end as cancelled could not be written at once', async () => {
    const { memory, store, replaced, now, pass } = faulty();
    replaced.finish = async () => {
      delete replaced.finish;
      throw new Error('away');
    };
    let begun = (): void => undefined;
    const started = new Promise<void>((resolve) => void (begun = resolve));
    const setup = tool(async (flow) => {
      await flow.step('deaf', () => {
        begun();
        return new Promise<never>(() => undefined);
      });
      return text('never');
    });
    const server = front(memory, setup, { now });
    const id = await server.begin('t');
    await worker(store, setup, { now });
    await started;
    await server.cancel(id);
    await server.until(id, 'cancelled');
    pass(100_000);
  });

  it('keeps what was appended by a write whose answer was lost, and does the step once', async () => {
    const { memory, store, replaced, now, pass } = faulty();
    replaced.append = async (claim, chunk) => {
      const written = await memory.append(claim, chunk);
      if (chunk.length > 0 && steps === 1) {
        delete replaced.append;
        throw new Error('the connection broke');
      }
      return written;
    };
    let steps = 0;
    const drawn: string[] = [];
    const setup = tool(async (flow) => {
      const key = flow.uuid();
      await flow.step('one', () => {
        drawn.push(key);
        steps += 1;
      });
      return text(key);
    });
    const server = front(memory, setup, { now });
    const id = await server.begin('t');
    await (await worker(store, setup, { now })).stop();
    pass(60_000 - 1_000);
    await worker(store, setup, { now });
    const { result } = await server.until(id, 'completed');
    expect(drawn).toEqual([result?.content[0]?.text]);
  });

  it('does no work twice that is done once, when its result could not be written', async () => {
    const { memory, store, replaced, now, pass } = faulty();
    let paid = 0;
    const setup = tool(async (flow) => {
      const price = await flow.step('price', () => 7);
      return text(await flow.once('pay', () => `${price} ${(paid += 1)}`));
    });
    const options = { now, ledger: memoryLedger() };
    replaced.append = async (claim, chunk) => {
      if (paid === 0) return await memory.append(claim, chunk);
      delete replaced.append;
      throw new Error('away');
    };
    const server = front(memory, setup, options);
    const id = await server.begin('t');
    await (await worker(store, setup, options)).stop();
    expect((await server.get(id)).status).toBe('working');
    pass(1_001);
    await worker(store, setup, options);
    expect((await server.until(id, 'completed')).result).toMatchObject(text('7 1'));
    expect(paid).toBe(1);
  });

  it('loses no answer that comes while its task is parked', async () => {
    const { memory, store, replaced, now } = faulty();
    const setup = tool(async (flow) => {
      const [a, b] = await Promise.all([
        flow.form('a', { message: 'A?', schema }),
        flow.form('b', { message: 'B?', schema }),
      ]);
      return text(a.name + b.name);
    });
    const server = front(memory, setup, { now });
    const id = await server.begin('t');
    await worker(store, setup, { now });
    await server.until(id, 'input_required');
    replaced.park = async (claim, parked) => {
      delete replaced.park;
      await server.update(id, { b: accept({ name: 'B' }) });
      return await memory.park(claim, parked);
    };
    await server.update(id, { a: accept({ name: 'A' }) });
    expect((await server.until(id, 'completed')).result).toMatchObject(text('AB'));
  });

  it('cancels a task that is cancelled while it is parked', async () => {
    const { memory, store, replaced, now } = faulty();
    const setup = tool(async (flow) => text(await flow.confirm('a', 'A?')));
    const server = front(memory, setup, { now });
    replaced.park = async (claim, parked) => {
      await server.cancel(claim.id);
      return await memory.park(claim, parked);
    };
    const id = await server.begin('t');
    await worker(store, setup, { now });
    await server.until(id, 'cancelled');
  });

  it('ends a run whose task expired, and writes nothing more', async () => {
    const { memory, store, now, pass } = faulty();
    let begun = (): void => undefined;
    const started = new Promise<void>((resolve) => void (begun = resolve));
    let stopped = false;
    const setup = tool(async (flow) => {
      await flow.step('long', async ({ signal }) => {
        begun();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        stopped = true;
      });
      return text('too late');
    });
    const server = front(memory, setup, { now });
    const id = await server.begin('t');
    const running = await worker(store, setup, { now });
    await started;
    pass(60_001);
    await running.stop();
    expect(stopped).toBe(true);
    expect((await server.send('tasks/get', { taskId: id })).error?.code).toBe(-32_602);
  });

  it('counts runs from the last progress, also after a claim was given back', async () => {
    const { memory, now } = faulty();
    const server = front(
      memory,
      tool(() => text('done')),
      { now },
    );
    const id = await server.begin('t');
    const first = await memory.claim(id, 1_000);
    if (first === undefined) throw new Error('no claim');
    await memory.append(first, 'x');
    await memory.release(first, now());
    expect((await memory.claim(id, 1_000))?.runs).toBe(1);
  });
});

describe('workers of another release', () => {
  it('leave a task to others whose arguments they do not take', async () => {
    const { memory, now, pass } = faulty();
    const of =
      (args: z.ZodObject): Setup =>
      (flows) =>
        void flows.registerTool('t', { task: 'optional', inputSchema: args }, async (given) =>
          text(JSON.stringify(given)),
        );
    const server = front(memory, of(z.object({ a: z.string() })), { now });
    const id = await server.begin('t', { arguments: { a: 'x' } });
    await (await worker(memory, of(z.object({ a: z.number() })), { now })).stop();
    expect((await server.get(id)).status).toBe('working');
    pass(5_001);
    await worker(memory, of(z.object({ a: z.string() })), { now });
    expect((await server.until(id, 'completed')).result).toMatchObject(text('{"a":"x"}'));
  });
});

describe('what a handler may say', () => {
  it('fills no status: the message of an error is cut there, and whole in the error', async () => {
    const server = taskServer(
      tool(() => {
        throw new ProtocolError(-32_000, 'x'.repeat(100_000));
      }),
    );
    const failed = await server.until(await server.begin('t'), 'failed');
    expect(failed.error?.message).toHaveLength(100_000);
    expect(failed.statusMessage?.length).toBeLessThanOrEqual(1_000);
  });

  it('fails a task with a protocol error whose data is no JSON, without the data', async () => {
    const server = taskServer(
      tool(() => {
        throw new ProtocolError(-32_000, 'no', { count: 1n });
      }),
    );
    expect((await server.until(await server.begin('t'), 'failed')).error).toEqual({
      code: -32_000,
      message: 'no',
    });
  });

  it('keeps metadata, structured content and large results as they are', async () => {
    const large = 'é'.repeat(2_000_000);
    const server = taskServer(
      tool(() => ({ ...text(large), structuredContent: { a: [1] }, _meta: { 'example.com/a': { b: 1 } } })),
    );
    const { result } = await server.until(await server.begin('t'), 'completed');
    expect(result).toEqual({
      ...text(large),
      structuredContent: { a: [1] },
      _meta: { 'example.com/a': { b: 1 } },
      resultType: 'complete',
    });
  });
});

describe('questions of a task', () => {
  it('never share a key on the wire, whatever the author calls them (TASK-18)', async () => {
    const keys = ['a', 'a~2', 'a~2~2', '', '~2', 'constructor', 'toString', 'hasOwnProperty'];
    const server = taskServer(
      tool(async (flow) => {
        const got = await Promise.all(keys.map((key) => flow.form(key, { message: `${key}?`, schema })));
        return text(got.map(({ name }) => name).join());
      }),
      { limits: { questions: 20 } },
    );
    const id = await server.begin('t');
    const used = new Set<string>();
    const askedFor = (message: string): string => keys.find((key) => message.startsWith(`${key}?`)) ?? '?';
    for (const value of [1, 2, 'good']) {
      const { inputRequests = {} } = await server.until(
        id,
        ({ status, inputRequests: open = {} }) =>
          status === 'input_required' && Object.keys(open).every((wire) => !used.has(wire)),
      );
      expect(Object.keys(inputRequests)).toHaveLength(keys.length);
      const answers: Record<string, unknown> = {};
      for (const [wire, { params }] of Object.entries(inputRequests)) {
        used.add(wire);
        const name = value === 'good' ? askedFor(String(params['message'])) : value;
        answers[wire] = accept({ name });
      }
      await server.update(id, answers);
    }
    expect(used.size).toBe(3 * keys.length);
    expect((await server.until(id, 'completed')).result).toMatchObject(text(keys.join()));
  });

  it('stay open when an answer is nested beyond measure', async () => {
    const server = taskServer(
      tool(async (flow) => text((await flow.form('a', { message: 'A?', schema })).name)),
    );
    const id = await server.begin('t');
    await server.until(id, 'input_required');
    let deep: unknown = 1;
    for (let level = 0; level < 3_000; level += 1) deep = [deep];
    const { result } = await server.update(id, { a: accept({ name: 'x', deep }) });
    expect(result).toMatchObject({ resultType: 'complete' });
  });

  it('may stand beside a detach that is called twice, in the request and in the task', async () => {
    const setup: Setup = (flows) =>
      void flows.registerTool('t', {}, async (flow) => {
        const [a] = await Promise.all([
          flow.form('a', { message: 'A?', schema }),
          flow.detach({ message: 'one' }),
          flow.detach({ message: 'two' }),
        ]);
        await flow.detach();
        const [b] = await Promise.all([flow.form('b', { message: 'B?', schema }), flow.detach()]);
        return text(a.name + b.name);
      });
    const server = taskServer(setup);
    const first = await server.tool('t');
    expect(first.result?.resultType).toBe('input_required');
    const id = await server.begin('t', {
      requestState: first.result?.requestState,
      inputResponses: { a: accept({ name: 'A' }) },
    });
    expect(await server.until(id, 'input_required')).toMatchObject({ statusMessage: 'one' });
    await server.update(id, { b: accept({ name: 'B' }) });
    expect((await server.until(id, 'completed')).result).toMatchObject(text('AB'));
  });

  it('have the same winner of a race in every run, also when a crash fell in between', async () => {
    const { memory, store, replaced, now, pass } = faulty();
    const setup = tool(async (flow) => {
      const winner = await Promise.race([
        flow.step('work', () => 'step'),
        flow.form('a', { message: 'A?', schema }).then(() => 'answer'),
      ]);
      const { name } = await flow.form(`b ${winner}`, { message: 'B?', schema });
      return text(`${winner} ${name}`);
    });
    const server = front(memory, setup, { now });
    replaced.park = async () => {
      delete replaced.park;
      throw new Error('away');
    };
    const id = await server.begin('t');
    await (await worker(store, setup, { now })).stop();
    pass(1_001);
    await worker(store, setup, { now });
    const { inputRequests } = await server.until(id, 'input_required');
    expect(Object.keys(inputRequests ?? {})).toEqual(['a', 'b step']);
    await server.update(id, { a: accept({ name: 'late' }), 'b step': accept({ name: 'B' }) });
    expect((await server.until(id, 'completed')).result).toMatchObject(text('step B'));
  });

  it('are asked again under new keys where a deploy changed them, and a crash in between loses no answer (TASK-18)', async () => {
    const { memory, store, replaced, now, pass } = faulty();
    let steps = 0;
    const asking = (message: string): Setup =>
      tool(async (flow) => {
        const { name } = await flow.form('a', { message, schema });
        const drawn = flow.uuid();
        const kept = await flow.step('one', () => {
          steps += 1;
          return drawn;
        });
        const b = await flow.form('b', { message: 'B?', schema });
        return text(`${name} ${b.name} ${kept === drawn}`);
      });
    const server = front(memory, asking('A?'), { now });
    const id = await server.begin('t');
    const first = await worker(store, asking('A?'), { now });
    await server.until(id, 'input_required');
    await server.update(id, { a: accept({ name: 'old' }) });
    await server.until(id, ({ inputRequests }) => inputRequests?.['b'] !== undefined);
    await first.stop();
    await server.update(id, { b: accept({ name: 'early' }) });
    const second = await worker(store, asking('A, really?'), { now });
    const again = await server.until(id, ({ inputRequests }) => inputRequests?.['a~2'] !== undefined);
    expect(Object.keys(again.inputRequests ?? {})).toEqual(['a~2']);
    replaced.park = async () => {
      delete replaced.park;
      throw new Error('away');
    };
    await server.update(id, { a: accept({ name: 'late' }), 'a~2': accept({ name: 'new' }) });
    await new Promise((resolve) => void setImmediate(resolve));
    await second.stop();
    pass(1_001);
    await worker(store, asking('A, really?'), { now });
    const last = await server.until(id, ({ inputRequests }) => Object.keys(inputRequests ?? {}).length > 0);
    expect(Object.keys(last.inputRequests ?? {})).toEqual(['b~2']);
    await server.update(id, { 'b~2': accept({ name: 'B' }) });
    expect((await server.until(id, 'completed')).result).toMatchObject(text('new B false'));
    expect(steps).toBe(1);
  });
});

describe('what is stored', () => {
  it('opens in its own task only: answers and journals of another are refused', async () => {
    const { memory, now } = faulty();
    const setup = tool(async (flow) => {
      await flow.step('one', () => 1);
      return text((await flow.form('a', { message: 'A?', schema })).name);
    });
    const server = front(memory, setup, { now });
    const [one, two] = [await server.begin('t'), await server.begin('t')];
    const first = await worker(memory, setup, { now });
    await server.until(one, 'input_required');
    await server.until(two, 'input_required');
    await first.stop();
    await server.update(one, { a: accept({ name: 'mallory' }) });
    const stolen = await memory.claim(one, 1_000);
    const victim = await memory.claim(two, 1_000);
    if (stolen?.parked === undefined || victim?.parked === undefined) throw new Error('no claims');
    for (const part of [
      { parked: stolen.parked, wires: [] },
      { parked: victim.parked, wires: [], journal: stolen.journal[0] ?? '' },
    ]) {
      const claim = (await memory.claim(two, 1_000)) ?? victim;
      await memory.park(claim, { ...part, dueAt: now() });
      const next = await worker(memory, setup, { now });
      await next.stop();
      expect((await memory.read(two))?.state).toBe('active');
    }
  });

  it('opens while its keys are rotated: a worker without the new key leaves it to others', async () => {
    const { memory, now, pass } = faulty();
    const setup = tool(async (flow) => text((await flow.form('a', { message: 'A?', schema })).name));
    const [old, young] = [generateKey(), generateKey()];
    const before = front(memory, setup, { now, keys: old });
    const id = await before.begin('t');
    await (await worker(memory, setup, { now, keys: old })).stop();
    const after = front(memory, setup, { now, keys: [young, old] });
    await after.update(id, { a: accept({ name: 'sealed under the new key' }) });
    await (await worker(memory, setup, { now, keys: old })).stop();
    expect((await after.get(id)).status).toBe('working');
    pass(5_001);
    await (await worker(memory, setup, { now, keys: [young, old] })).stop();
    expect((await after.get(id)).result).toMatchObject(text('sealed under the new key'));
  });

  it('is shown to whom it was sealed for, whatever principal somebody writes beside it', async () => {
    const { memory, store, replaced, now } = faulty();
    const auth = (clientId: string): AuthInfo => ({ token: clientId, clientId, scopes: [] });
    const setup = tool(async (flow) => text(await flow.confirm('a', 'A?')));
    const server = front(store, setup, { now });
    const mine = await server.begin('t', {}, { auth: auth('mallory') });
    const theirs = await server.begin('t', {}, { auth: auth('alice') });
    const principal = (await memory.read(mine))?.principal ?? '';
    replaced.read = async (id) => {
      const row = await memory.read(id);
      return row === undefined ? undefined : { ...row, principal };
    };
    expect((await server.get(mine, { auth: auth('mallory') })).status).toBe('working');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const params = { taskId: theirs, inputResponses: {} };
      const { error } = await server.send(method, params, { auth: auth('mallory') });
      expect(error?.code).toBe(-32_602);
    }
    expect((await memory.read(theirs))?.state).toBe('active');
  });

  it('is nothing to a server for another audience: not shown, not answered, not cancelled', async () => {
    const tasks = memoryTasks({ pollInterval: 10 });
    const setup = tool(async (flow) => text(await flow.confirm('a', 'A?')));
    const [one, two] = [
      taskServer(setup, { tasks, audience: 'one' }),
      taskServer(setup, { tasks, audience: 'two' }),
    ];
    const id = await one.begin('t');
    await one.until(id, 'input_required');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const params = { taskId: id, inputResponses: { a: accept({ confirm: true }) } };
      expect((await two.send(method, params)).error).toBeDefined();
    }
    expect((await one.get(id)).status).toBe('input_required');
  });
});

describe('a process', () => {
  it('is not kept alive by a task whose work never ends', async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    let begun = (): void => undefined;
    const started = new Promise<void>((resolve) => void (begun = resolve));
    const server = taskServer(
      tool(async (flow) => {
        await flow.step('for ever', () => {
          begun();
          return new Promise<never>(() => undefined);
        });
        return text('never');
      }),
    );
    const before = timers();
    const id = await server.begin('t');
    await started;
    expect(timers()).toBe(before);
    await server.cancel(id);
    await server.until(id, 'cancelled');
  });
});
