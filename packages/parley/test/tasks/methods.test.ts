import { describe, expect, it } from 'vitest';
import { McpServer, type AuthInfo } from '@modelcontextprotocol/server';
import { FULL, TASKS, taskServer, text, accept, WITHOUT_TASKS, type TaskServer } from './harness.js';
import * as z from 'zod';
import { Parley, type Flows } from '../../src/index.js';
import { memoryTasks } from '../../src/tasks/index.js';
import { connectTo } from '../client/harness.js';
import { TEST_KEY } from '../gate/wire-harness.js';

const FORM = z.object({ n: z.number() });

const ada: AuthInfo = { token: 'a', clientId: 'c', scopes: [], extra: { iss: 'i', sub: 'ada' } };
const eve: AuthInfo = { token: 'e', clientId: 'c', scopes: [], extra: { iss: 'i', sub: 'eve' } };

const METHODS = ['tasks/get', 'tasks/update', 'tasks/cancel'] as const;

function asking(options: Parameters<typeof taskServer>[1] = {}): TaskServer {
  return taskServer((flows) => {
    flows.registerTool('one', { task: 'optional' }, async (flow) => {
      const { n } = await flow.form('n', { message: 'How many?', schema: FORM });
      return text(n);
    });
    flows.registerTool('two', { task: 'optional' }, async (flow) => {
      const [a, b] = await Promise.all([
        flow.form('a', { message: 'a?', schema: FORM }),
        flow.form('b', { message: 'b?', schema: FORM }),
      ]);
      return text(a.n + b.n);
    });
    flows.registerTool('strict', { task: 'required' }, async () => text('done'));
    flows.registerTool('plain', {}, async () => text('plain'));
    flows.registerTool('late', {}, async (flow) => {
      await flow.detach();
      return text('late');
    });
  }, options);
}

describe('the methods of tasks', () => {
  it('are announced as an extension, and not as a capability of their own (TASK-01)', async () => {
    const { result } = await asking().send('server/discover', {});
    const { capabilities } = result as unknown as { capabilities: Record<string, Record<string, unknown>> };
    expect(capabilities['extensions']).toEqual({ [TASKS]: {} });
    expect(capabilities['tasks']).toBeUndefined();
  });

  it.each(METHODS)(
    '%s is refused before anything is looked up to clients without tasks (TASK-30)',
    async (method) => {
      const server = asking();
      const params = { taskId: 'gate-test', inputResponses: {} };
      for (const capabilities of [{}, { tasks: { requests: { tools: { call: {} } } } }, { extensions: {} }]) {
        const answer = await server.send(method, params, { capabilities });
        expect(answer.status).toBe(400);
        expect(answer.error?.code).toBe(-32_021);
        expect(answer.error?.data).toEqual({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
      }
      // Also where the params are no good.
      expect((await server.send(method, {}, { capabilities: {} })).error?.code).toBe(-32_021);
    },
  );

  it.each(METHODS)(
    '%s says the same of a task that is unknown, of somebody else, or over (TASK-29)',
    async (method) => {
      let now = Date.now();
      const server = asking({ now: () => now, memory: { ttl: 60_000 } });
      const id = await server.begin('one', {}, { auth: ada });
      await server.until(id, 'input_required', { auth: ada });
      const ask = async (taskId: string, auth?: AuthInfo): Promise<string> => {
        const answer = await server.send(
          method,
          { taskId, inputResponses: {} },
          auth === undefined ? {} : { auth },
        );
        expect(answer.status).toBe(200);
        expect(answer.error?.code).toBe(-32_602);
        return answer.text.replace(/"id":\d+/, '');
      };
      const foreign = await ask(id, eve);
      expect(await ask(id)).toBe(foreign);
      expect(await ask('A'.repeat(22), ada)).toBe(foreign);
      expect(await ask('tasks-conformance-nonexistent-12345', ada)).toBe(foreign);
      expect(await ask('', ada)).toBe(foreign);
      expect((await server.get(id, { auth: ada })).status).toBe('input_required');
      now += 60_001;
      expect(await ask(id, ada)).toBe(foreign);
    },
  );

  it.each(METHODS)('%s refuses what is no id, and a header that names another (TASK-14)', async (method) => {
    const server = asking();
    const id = await server.begin('one');
    expect((await server.send(method, { taskId: 7 })).error?.code).toBe(-32_602);
    expect((await server.send(method, {})).error?.code).toBe(-32_602);
    const wrong = await server.send(method, { taskId: id, inputResponses: {} }, { name: 'other' });
    expect(wrong.status).toBe(400);
    expect(wrong.error?.code).toBe(-32_020);
  });

  it.each(METHODS)('%s fails closed where it cannot be told who asks', async (method) => {
    const server = asking({
      principal: () => {
        throw new Error('secret reason');
      },
    });
    const answer = await server.send(method, { taskId: 'A'.repeat(22), inputResponses: {} });
    expect(answer.error?.code).toBe(-32_603);
    expect(answer.text).not.toContain('secret');
  });

  it.each(['tasks/result', 'tasks/list'])('%s is not there any more (TASK-31)', async (method) => {
    const answer = await asking().send(method, { taskId: 'x' });
    expect(answer.status).toBe(404);
    expect(answer.error?.code).toBe(-32_601);
  });

  it('a tool that must be a task is refused to clients without tasks, before it runs (TASK-04)', async () => {
    const answer = await asking().tool('strict', {}, { capabilities: WITHOUT_TASKS });
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
  });

  it('a flow that detaches is refused in the same way (TASK-04)', async () => {
    const answer = await asking().tool('late', {}, { capabilities: WITHOUT_TASKS });
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
  });

  it('a tool that may be a task is served in the request, rounds and all, to clients without (TASK-02, TASK-03)', async () => {
    const server = asking();
    const first = await server.tool('one', {}, { capabilities: WITHOUT_TASKS });
    expect(first.result?.resultType).toBe('input_required');
    const second = await server.tool(
      'one',
      { requestState: first.result?.requestState, inputResponses: { n: accept({ n: 4 }) } },
      { capabilities: WITHOUT_TASKS },
    );
    expect(second.result).toMatchObject({ resultType: 'complete', content: [{ text: '4' }] });
    expect(second.text).not.toContain('taskId');
  });

  it('ignores a legacy hint, and legacy capabilities (TASK-32)', async () => {
    const server = asking();
    const hinted = await server.tool('plain', { task: { ttl: 60_000 } });
    expect(hinted.result).toMatchObject({ resultType: 'complete', content: [{ text: 'plain' }] });
    const legacy = await server.tool(
      'one',
      {},
      { capabilities: { ...WITHOUT_TASKS, tasks: { requests: {} } } },
    );
    expect(legacy.result?.resultType).toBe('input_required');
  });

  it('a new task is nothing but where it stands (TASK-07 to TASK-09, TASK-45)', async () => {
    const server = asking({ memory: { ttl: 5_000, pollInterval: 700 } });
    const { result } = await server.tool('one');
    expect(Object.keys(result ?? {}).toSorted()).toEqual([
      '_meta',
      'createdAt',
      'lastUpdatedAt',
      'pollIntervalMs',
      'resultType',
      'status',
      'taskId',
      'ttlMs',
    ]);
    expect(result).toMatchObject({ resultType: 'task', ttlMs: 5_000, pollIntervalMs: 700 });
    expect((result as unknown as { createdAt: string }).createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);
    expect((result as unknown as { taskId: string }).taskId).toMatch(/^[\w-]{22}$/);
  });

  it('can be looked at as soon as it is answered, and looking changes nothing (TASK-11, TASK-16, TASK-49)', async () => {
    const server = asking();
    const id = await server.begin('two');
    expect((await server.get(id)).taskId).toBe(id);
    const first = await server.until(id, 'input_required');
    const second = await server.get(id);
    expect(second).toEqual(first);
    expect(first.resultType).toBe('complete');
    expect(Object.keys(first.inputRequests ?? {})).toEqual(['a', 'b']);
    expect(first).not.toHaveProperty('requestState');
  });
});

describe('tasks/update', () => {
  it('takes a part of the answers, seen by the very next look (TASK-19, TASK-21)', async () => {
    const server = asking();
    const id = await server.begin('two');
    await server.until(id, 'input_required');
    const ack = await server.update(id, { a: accept({ n: 1 }) });
    expect(Object.keys(ack.result ?? {}).toSorted()).toEqual(['_meta', 'resultType']);
    const next = await server.get(id);
    expect(next.status).toBe('input_required');
    expect(Object.keys(next.inputRequests ?? {})).toEqual(['b']);
    await server.update(id, { b: accept({ n: 2 }) });
    const done = await server.until(id, 'completed');
    expect(done.result?.content[0]?.text).toBe('3');
  });

  it('ignores keys that nobody asked, whatever stands under them (TASK-20)', async () => {
    const server = asking();
    const id = await server.begin('one');
    await server.until(id, 'input_required');
    for (const value of [{ ignored: true }, null, 7, 'x', [], { method: 'm', result: {} }]) {
      const answer = await server.update(id, { 'unknown-key': value, constructor: value });
      expect(answer.result?.resultType).toBe('complete');
    }
    const own = JSON.parse('{"__proto__":{"n":{"action":"accept","content":{"n":1}}}}') as Record<
      string,
      unknown
    >;
    await server.update(id, own);
    expect(Object.keys((await server.get(id)).inputRequests ?? {})).toEqual(['n']);
  });

  it('leaves a question open whose answer is of another kind, or too large (TASK-20)', async () => {
    const server = asking({ limits: { answerBytes: 200 } });
    const id = await server.begin('one');
    const before = await server.until(id, 'input_required');
    const wrong = [
      { roots: [] },
      { role: 'assistant', model: 'm', content: { type: 'text', text: 't' } },
      { action: 'perhaps' },
      accept({ n: 1, more: 'x'.repeat(300) }),
      'accept',
    ];
    for (const answer of wrong) expect((await server.update(id, { n: answer })).error).toBeUndefined();
    expect(await server.get(id)).toEqual(before);
    await server.update(id, { n: accept({ n: 9 }) });
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('9');
  });

  it('asks again under a new key what was not answered well, and the other question keeps its key (TASK-18)', async () => {
    const server = asking();
    const id = await server.begin('two');
    await server.until(id, 'input_required');
    await server.update(id, { a: accept({ n: 'many' }) });
    const again = await server.until(
      id,
      ({ inputRequests }) => Object.keys(inputRequests ?? {}).length === 2,
    );
    expect(Object.keys(again.inputRequests ?? {})).toEqual(['a~2', 'b']);
    expect(JSON.stringify(again.inputRequests?.['a~2'])).toContain('a?');
    // The old key is used up: what comes under it is not looked at.
    await server.update(id, { a: accept({ n: 50 }), b: accept({ n: 2 }) });
    await server.until(id, ({ inputRequests }) => Object.keys(inputRequests ?? {}).join() === 'a~2');
    await server.update(id, { 'a~2': accept({ n: 1 }) });
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('3');
  });

  it('gives up on a question after as many attempts as a round would', async () => {
    const server = asking();
    const id = await server.begin('one');
    for (const wire of ['n', 'n~2', 'n~3']) {
      await server.until(id, ({ inputRequests }) => Object.hasOwn(inputRequests ?? {}, wire));
      await server.update(id, { [wire]: accept({ n: 'many' }) });
    }
    const done = await server.until(id, 'completed');
    expect(done.result).toMatchObject({ isError: true });
    expect(done.result?.content[0]?.text).toContain('3 attempts');
  });

  it('takes the first answer of two (TASK-22)', async () => {
    const server = asking();
    const id = await server.begin('one');
    await server.until(id, 'input_required');
    await Promise.all([
      server.update(id, { n: accept({ n: 1 }) }),
      server.update(id, { n: accept({ n: 2 }) }),
    ]);
    const done = await server.until(id, 'completed');
    expect(['1', '2']).toContain(done.result?.content[0]?.text);
    expect((await server.update(id, { n: accept({ n: 3 }) })).result?.resultType).toBe('complete');
    expect(await server.get(id)).toEqual(done);
  });
});

describe('clients of 2025-11-25', () => {
  const setup = (flows: Flows): void => {
    flows.registerTool('optional', { task: 'optional' }, async () => text('in the request'));
    flows.registerTool('required', { task: 'required' }, async () => text('never'));
  };

  it('never get a task, whatever they declare (TASK-33)', async () => {
    const parley = new Parley({ keys: TEST_KEY, logger: { warn: () => undefined }, tasks: memoryTasks() });
    const create = (): McpServer => {
      const mcp = new McpServer({ name: 'n', version: '1' });
      setup(parley.attach(mcp));
      return mcp;
    };
    const { client } = await connectTo(create, undefined, { mode: 'legacy', capabilities: FULL });
    const { content } = await client.callTool({ name: 'optional', arguments: {} });
    expect(content).toEqual([{ type: 'text', text: 'in the request' }]);
    await expect(client.callTool({ name: 'required', arguments: {} })).rejects.toMatchObject({
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
    await expect(
      client.request({ method: 'tasks/get', params: { taskId: 'A'.repeat(22) } }, z.object({})),
    ).rejects.toMatchObject({ code: -32_601 });
  });
});
