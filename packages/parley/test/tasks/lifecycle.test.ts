import { ProtocolError, type AuthInfo } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { Parley, memoryLedger, type McpFlow } from '../../src/index.js';
import { McpServer } from '@modelcontextprotocol/server';
import { accept, FULL, TASKS, taskServer, text, WITHOUT_TASKS } from './harness.js';

const NAME = z.object({ name: z.string() });

/** A promise that a test settles itself. */
function signal(): { readonly promise: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const promise = new Promise<void>((resolve) => void (give = resolve));
  return { promise, give: () => give() };
}

async function nightly(flow: McpFlow): Promise<ReturnType<typeof text>> {
  const { name } = await flow.form('who', { message: 'Who?', schema: NAME });
  await flow.detach({ message: 'Working on it', ttl: 60_000, pollInterval: 50 });
  const size = await flow.step('size', () => name.length);
  const ok = await flow.confirm('send', `Send ${size}?`);
  return text(`${name} ${size} ${ok} ${flow.id}`);
}

describe('a flow that becomes a task', () => {
  it('asks before as rounds, and after as a task, with the same handler (TASK-12, TASK-13, TASK-15)', async () => {
    const server = taskServer((flows) => flows.registerTool('nightly', {}, nightly));
    const first = await server.tool('nightly');
    expect(first.result?.resultType).toBe('input_required');
    expect(first.text).not.toContain('taskId');
    const id = await server.begin('nightly', {
      requestState: first.result?.requestState,
      inputResponses: { who: accept({ name: 'Ada' }) },
    });
    const asking = await server.until(id, 'input_required');
    expect(asking).toMatchObject({ statusMessage: 'Working on it', ttlMs: 60_000, pollIntervalMs: 50 });
    expect(Object.keys(asking.inputRequests ?? {})).toEqual(['send']);
    await server.update(id, { send: accept({ confirm: true }) });
    const done = await server.until(id, 'completed');
    expect(done.result?.content[0]?.text).toMatch(/^Ada 3 true [\w-]{22}$/);
    expect(done).not.toHaveProperty('requestState');
    const told = server.events.map(({ name }) => name);
    expect(told).toEqual(['sealed', 'suspended', 'detached', 'suspended', 'completed']);
    expect(JSON.stringify(server.events)).not.toContain(id);
    expect(new Set(server.events.map(({ event }) => (event as { flow?: string }).flow)).size).toBe(1);
  });

  it('is a task from its start where the tool says so', async () => {
    const server = taskServer((flows) =>
      flows.registerTool(
        'report',
        { task: 'optional', inputSchema: z.object({ n: z.number() }) },
        async ({ n }) => text(n),
      ),
    );
    const id = await server.begin('report', { arguments: { n: 3 } });
    const done = await server.until(id, 'completed');
    expect(done.result).toEqual({ resultType: 'complete', content: [{ type: 'text', text: '3' }] });
  });

  it('gives one task to a round that is sent again, also when its task has ended (TASK-11)', async () => {
    let runs = 0;
    const server = taskServer((flows) =>
      flows.registerTool('t', {}, async (flow) => {
        const { name } = await flow.form('who', { message: 'Who?', schema: NAME });
        await flow.detach();
        await flow.step('work', () => void (runs += 1));
        return text(name);
      }),
    );
    const first = await server.tool('t');
    const round = {
      requestState: first.result?.requestState,
      inputResponses: { who: accept({ name: 'Ada' }) },
    };
    const ids = await Promise.all(Array.from({ length: 5 }, () => server.begin('t', round)));
    expect(new Set(ids).size).toBe(1);
    await server.until(ids[0] ?? '', 'completed');
    expect(await server.begin('t', round)).toBe(ids[0]);
    // Other answers to the same state belong to the same flow, and that is this task.
    const other = { ...round, inputResponses: { who: accept({ name: 'Eve' }) } };
    expect(await server.begin('t', other)).toBe(ids[0]);
    expect(runs).toBe(1);
    expect(server.events.filter(({ name }) => name === 'detached')).toHaveLength(1);
  });

  it('makes no second task when the first has expired', async () => {
    let now = Date.now();
    const server = taskServer(
      (flows) =>
        flows.registerTool('t', {}, async (flow) => {
          await flow.form('who', { message: 'Who?', schema: NAME });
          await flow.detach({ ttl: 1_000 });
          return text('done');
        }),
      { now: () => now },
    );
    const first = await server.tool('t');
    const round = {
      requestState: first.result?.requestState,
      inputResponses: { who: accept({ name: 'Ada' }) },
    };
    const id = await server.begin('t', round);
    await server.until(id, 'completed');
    now += 1_001;
    const again = await server.tool('t', round);
    expect(again.error?.code).toBe(-32_602);
    expect(server.tasks.size).toBe(0);
  });

  it('records the task as the response of a single-use round', async () => {
    const server = taskServer((flows) => flows.registerTool('t', { singleUse: true }, nightly), {
      ledger: memoryLedger(),
    });
    const first = await server.tool('t');
    const round = {
      requestState: first.result?.requestState,
      inputResponses: { who: accept({ name: 'Ada' }) },
    };
    const id = await server.begin('t', round);
    expect(await server.begin('t', round)).toBe(id);
    expect(server.events.filter(({ name }) => name === 'repeated')).toHaveLength(1);
    const other = await server.tool('t', { ...round, inputResponses: { who: accept({ name: 'Eve' }) } });
    expect(other.error?.code).toBe(-32_602);
  });

  it('lets questions that are pending go out as a round first (TASK-12)', async () => {
    const server = taskServer((flows) =>
      flows.registerTool('t', {}, async (flow) => {
        const [answer] = await Promise.all([
          flow.form('who', { message: 'Who?', schema: NAME }),
          flow.detach(),
        ]);
        return text(answer.name);
      }),
    );
    const first = await server.tool('t');
    expect(Object.keys(first.result?.inputRequests ?? {})).toEqual(['who']);
    const id = await server.begin('t', {
      requestState: first.result?.requestState,
      inputResponses: { who: accept({ name: 'Ada' }) },
    });
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('Ada');
  });

  it('may use a key in the task that a client answered in the request before (TASK-13)', async () => {
    const server = taskServer((flows) =>
      flows.registerTool('t', { task: 'optional' }, async (flow) =>
        text((await flow.form('who', { message: 'Who?', schema: NAME })).name),
      ),
    );
    // An answer that comes along unasked is the request's, and not the task's.
    const id = await server.begin('t', { inputResponses: { who: accept({ name: 'Early' }) } });
    await server.until(id, 'input_required');
    await server.update(id, { who: accept({ name: 'Asked' }) });
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('Asked');
  });

  it('can be a tool only: prompts and resources say so (TASK-06)', async () => {
    const server = taskServer((flows) => {
      flows.registerPrompt('p', {}, async (flow) => {
        await flow.detach();
        return { messages: [] };
      });
      flows.registerResource('r', 'file:///r', {}, async (_uri, flow) => {
        await flow.detach();
        return { contents: [] };
      });
    });
    const prompt = await server.send('prompts/get', { name: 'p' });
    const resource = await server.send('resources/read', { uri: 'file:///r' });
    for (const answer of [prompt, resource]) {
      expect(answer.error?.message).toContain('Only the call of a tool can become a task');
    }
  });

  it('needs tasks: registration and detach say what to do', async () => {
    const parley = new Parley({ keys: undefined, logger: { warn: () => undefined } });
    const flows = parley.attach(new McpServer({ name: 'n', version: '1' }));
    expect(() => flows.registerTool('t', { task: 'optional' }, async () => text(''))).toThrow(/memoryTasks/);
    const server = taskServer(
      (registered) =>
        registered.registerTool('t', {}, async (flow) => {
          await flow.detach();
          return text('');
        }),
      { tasks: undefined },
    );
    const answer = await server.tool('t');
    expect(answer.result).toMatchObject({ isError: true });
    expect(answer.result?.content?.[0]?.text).toContain('new Parley({ tasks: memoryTasks() })');
    expect((await server.send('tasks/get', { taskId: 'x' })).error?.code).toBe(-32_601);
  });

  it('refuses a mode that there is not', () => {
    taskServer((flows) => {
      const config = { task: 'always' as 'optional' };
      expect(() => flows.registerTool('t', config, async () => text(''))).toThrow(/optional/);
    });
  });
});

describe('how a task ends', () => {
  const outcomes = taskServer((flows) => {
    flows.registerTool('tool-error', { task: 'optional' }, async () => {
      throw new Error('it broke');
    });
    flows.registerTool('is-error', { task: 'optional' }, async () => ({ ...text('no'), isError: true }));
    flows.registerTool('protocol-error', { task: 'optional' }, async () => {
      throw new ProtocolError(-32_050, 'not today', { until: 'tomorrow' });
    });
    flows.registerTool('refused', { task: 'optional' }, async (flow) => {
      const { name } = await flow.form('who', { message: 'Who?', schema: NAME });
      return text(name);
    });
    const outputSchema = z.object({ total: z.number() });
    flows.registerTool('good-output', { task: 'optional', outputSchema }, async () => ({
      ...text(1),
      structuredContent: { total: 1 },
    }));
    flows.registerTool('bad-output', { task: 'optional', outputSchema }, async () => ({
      ...text(1),
      structuredContent: { total: 'one' },
    }));
    flows.registerTool('no-result', { task: 'optional' }, async () => ({ content: 7 }) as never);
    flows.registerTool('no-json', { task: 'optional' }, async () => ({ ...text(1), _meta: { big: 1n } }));
    flows.registerTool(
      'by-hand',
      { task: 'optional' },
      async () => ({ resultType: 'task', taskId: 'x' }) as never,
    );
    flows.registerTool(
      'input',
      { task: 'optional', inputSchema: z.object({ n: z.number() }) },
      async ({ n }) => text(n),
    );
  });

  it('a tool that throws is completed with an error, as it would have been answered (TASK-17)', async () => {
    const done = await outcomes.until(await outcomes.begin('tool-error'), 'completed');
    expect(done.result).toEqual({
      resultType: 'complete',
      isError: true,
      content: [{ type: 'text', text: 'it broke' }],
    });
    const same = await outcomes.until(await outcomes.begin('is-error'), 'completed');
    expect(same.result).toMatchObject({ isError: true, content: [{ text: 'no' }] });
  });

  it('an error of the protocol fails the task, with that error (TASK-17)', async () => {
    const failed = await outcomes.until(await outcomes.begin('protocol-error'), 'failed');
    expect(failed.error).toEqual({ code: -32_050, message: 'not today', data: { until: 'tomorrow' } });
    expect(failed.statusMessage).toBe('not today');
    expect(failed).not.toHaveProperty('result');
  });

  it('a refusal that nobody catches is an error of the tool', async () => {
    const id = await outcomes.begin('refused');
    await outcomes.until(id, 'input_required');
    await outcomes.update(id, { who: { action: 'decline' } });
    const done = await outcomes.until(id, 'completed');
    expect(done.result?.content[0]?.text).toContain(`'who' was declined`);
  });

  it('a tool with an output schema is held to it at its end, and not at its start', async () => {
    const good = await outcomes.until(await outcomes.begin('good-output'), 'completed');
    expect(good.result?.structuredContent).toEqual({ total: 1 });
    const bad = await outcomes.until(await outcomes.begin('bad-output'), 'completed');
    expect(bad.result).toMatchObject({ isError: true });
    expect(bad.result?.content[0]?.text).toContain('Output validation error');
  });

  it('what is no result ends the task too', async () => {
    expect((await outcomes.until(await outcomes.begin('no-result'), 'failed')).error?.code).toBe(-32_603);
    const byHand = await outcomes.until(await outcomes.begin('by-hand'), 'completed');
    expect(byHand.result?.content[0]?.text).toContain('Call flow.detach() instead');
    const noJson = await outcomes.until(
      await outcomes.begin('no-json'),
      ({ status }) => status !== 'working',
    );
    expect(noJson.status).toBe('failed');
  });

  it('arguments that do not fit are answered at once, and make no task', async () => {
    const answer = await outcomes.tool('input', { arguments: { n: 'x' } });
    expect(answer.result).toMatchObject({ resultType: 'complete', isError: true });
  });

  it('fails a task that asks what its client cannot be asked', async () => {
    const id = await outcomes.begin('refused', {}, { capabilities: { extensions: { [TASKS]: {} } } });
    const failed = await outcomes.until(id, 'failed');
    expect(failed.error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });
});

describe('cancelling', () => {
  it('ends a task that waits for an answer at once, and says the same again (TASK-26, TASK-27)', async () => {
    const server = taskServer((flows) => flows.registerTool('t', { task: 'optional' }, nightly));
    const id = await server.begin('t');
    await server.until(id, 'input_required');
    const ack = await server.cancel(id);
    expect(Object.keys(ack.result ?? {}).toSorted()).toEqual(['_meta', 'resultType']);
    const cancelled = await server.get(id);
    expect(cancelled.status).toBe('cancelled');
    expect(cancelled).not.toHaveProperty('inputRequests');
    const { result } = await server.cancel(id);
    expect(result).toEqual(ack.result);
    await server.update(id, { who: accept({ name: 'Ada' }) });
    expect(await server.get(id)).toEqual(cancelled);
  });

  it('stops work that runs: its signal aborts, and the task ends (TASK-26)', async () => {
    const begun = signal();
    const aborted = signal();
    const server = taskServer((flows) =>
      flows.registerTool('t', { task: 'optional' }, async (flow) => {
        await flow.step('long', ({ signal: stop }) => {
          begun.give();
          return new Promise<void>((resolve) => {
            stop.addEventListener('abort', () => {
              aborted.give();
              resolve();
            });
          });
        });
        return text('never');
      }),
    );
    const id = await server.begin('t');
    await begun.promise;
    await server.cancel(id);
    await aborted.promise;
    await server.until(id, 'cancelled');
    expect(await server.get(id)).not.toHaveProperty('result');
  });

  it('leaves a task that has ended as it is (TASK-10, TASK-27)', async () => {
    const server = taskServer((flows) =>
      flows.registerTool('t', { task: 'optional' }, async () => text('done')),
    );
    const id = await server.begin('t');
    const done = await server.until(id, 'completed');
    expect((await server.cancel(id)).result?.resultType).toBe('complete');
    expect(await server.get(id)).toEqual(done);
  });
});

describe('a flow in a task', () => {
  it('shows what a long step says of itself (TASK-49)', async () => {
    const said = signal();
    const goOn = signal();
    const server = taskServer((flows) =>
      flows.registerTool('t', {}, async (flow) => {
        await flow.detach({ message: 'at first' });
        await flow.step('long', async ({ heartbeat }) => {
          await heartbeat('half of it is done');
          said.give();
          await goOn.promise;
        });
        return text('done');
      }),
    );
    const id = await server.begin('t');
    await said.promise;
    expect((await server.get(id)).statusMessage).toBe('half of it is done');
    goOn.give();
    expect(await server.until(id, 'completed')).not.toHaveProperty('statusMessage');
  });

  it('tells a long step that its task was cancelled', async () => {
    const said = signal();
    const goOn = signal();
    let refusal: unknown;
    const server = taskServer((flows) =>
      flows.registerTool('t', { task: 'optional' }, async (flow) => {
        await flow.step('long', async ({ heartbeat }) => {
          said.give();
          await goOn.promise;
          await heartbeat().catch((error: unknown) => void (refusal = error));
        });
        return text('done');
      }),
    );
    const id = await server.begin('t');
    await said.promise;
    await server.cancel(id);
    goOn.give();
    await server.until(id, 'cancelled');
    expect(refusal).toMatchObject({ message: 'The task was cancelled.' });
  });

  it('waits for something without being asked, also beside a question', async () => {
    let ready = false;
    let looks = 0;
    const server = taskServer((flows) =>
      flows.registerTool('t', { task: 'optional' }, async (flow) => {
        const first = await Promise.race([
          flow.waitFor('ready', () => ((looks += 1), ready ? 'ready' : undefined), { every: 5, hold: 5 }),
          flow.confirm('skip', 'Skip?').then(() => 'skipped'),
        ]);
        return text(first);
      }),
    );
    const id = await server.begin('t');
    await server.until(id, 'input_required');
    await server.until(id, () => looks > 3);
    ready = true;
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('ready');
  });

  it('waits alone, for as long as it takes', async () => {
    let looks = 0;
    const server = taskServer(
      (flows) =>
        flows.registerTool('t', { task: 'optional' }, async (flow) => {
          const value = await flow.waitFor('it', () => ((looks += 1) > 10 ? looks : undefined), {
            every: 2,
            hold: 2,
          });
          return text(value);
        }),
      { limits: { waits: 1, rounds: 1 } },
    );
    await server.until(await server.begin('t'), 'completed');
    expect(looks).toBe(11);
  });

  it('does work once, under the same record as in a round', async () => {
    let done = 0;
    const ledger = memoryLedger();
    const server = taskServer(
      (flows) =>
        flows.registerTool('t', {}, async (flow) => {
          const before = await flow.once('charge', () => (done += 1));
          await flow.detach();
          const ok = await flow.confirm('ok', 'Go on?');
          const coupon = await flow.once('coupon', () => (done += 1), { id: 'SUMMER' });
          return text(`${before} ${coupon} ${ok}`);
        }),
      { ledger },
    );
    for (const expected of ['1 2 true', '3 2 true']) {
      const id = await server.begin('t');
      await server.until(id, 'input_required');
      await server.update(id, { ok: accept({ confirm: true }) });
      expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe(expected);
    }
    expect(done).toBe(3);
  });

  it('keeps what was drawn and done, over all of its runs', async () => {
    const seen: string[] = [];
    let steps = 0;
    const server = taskServer((flows) =>
      flows.registerTool('t', {}, async (flow) => {
        const before = flow.uuid();
        await flow.detach();
        const id = flow.uuid();
        seen.push(`${before} ${id}`);
        await flow.step('one', () => void (steps += 1));
        await flow.confirm('a', 'a?');
        await flow.step('two', () => void (steps += 1));
        await flow.confirm('b', 'b?');
        return text(`${flow.round}`);
      }),
    );
    const id = await server.begin('t');
    for (const key of ['a', 'b']) {
      await server.until(id, ({ inputRequests }) => Object.hasOwn(inputRequests ?? {}, key));
      await server.update(id, { [key]: accept({ confirm: true }) });
    }
    expect((await server.until(id, 'completed')).result?.content[0]?.text).toBe('1');
    expect(seen.length).toBeGreaterThanOrEqual(3);
    expect(new Set(seen).size).toBe(1);
    expect(steps).toBe(2);
  });

  it('finds who asked, what they declared, and nobody at the other end (TASK-39)', async () => {
    const auth: AuthInfo = {
      token: 'secret-token',
      clientId: 'client',
      scopes: ['s'],
      resource: new URL('https://example.com/mcp'),
      extra: { iss: 'i', sub: 'ada' },
    };
    let seen: unknown;
    let sent: unknown;
    const server = taskServer((flows) =>
      flows.registerTool('t', { task: 'optional' }, async (flow) => {
        const { ctx, client } = flow;
        seen = {
          ...ctx.http?.authInfo,
          method: ctx.mcpReq.method,
          form: client.elicitation.form,
          state: ctx.mcpReq.requestState(),
        };
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken: 1, progress: 1 },
        });
        await ctx.mcpReq.log('info', 'nothing');
        sent = await ctx.mcpReq
          .elicitInput({ message: 'm', requestedSchema: { type: 'object', properties: {} } })
          .catch((error: unknown) => (error as Error).message);
        return text(client.extensions.has(TASKS));
      }),
    );
    const id = await server.begin('t', {}, { auth, meta: { progressToken: 1 } });
    const done = await server.until(id, 'completed', { auth });
    expect(done.result?.content[0]?.text).toBe('true');
    expect(seen).toEqual({
      token: '',
      clientId: 'client',
      scopes: ['s'],
      resource: new URL('https://example.com/mcp'),
      extra: { iss: 'i', sub: 'ada' },
      method: 'tools/call',
      form: true,
      state: undefined,
    });
    expect(sent).toContain('Nothing can be sent to the client from a task');
  });

  it('is run with what the factory knew of its own caller, never of another', async () => {
    const goOn = signal();
    const server = taskServer((flows, _mcp, auth) =>
      flows.registerTool('whoami', { task: 'optional' }, async (flow) => {
        await flow.step('wait', () => goOn.promise);
        await flow.confirm('ok', 'Say it?');
        return text(String(auth?.extra?.['sub']));
      }),
    );
    const callers = ['ada', 'bob', 'eve'].map((sub): AuthInfo => ({
      token: sub,
      clientId: 'c',
      scopes: [],
      extra: { sub },
    }));
    const ids = await Promise.all(callers.map((auth) => server.begin('whoami', {}, { auth })));
    goOn.give();
    for (const [index, auth] of callers.entries()) {
      const id = ids[index] ?? '';
      await server.until(id, 'input_required', { auth });
      await server.update(id, { ok: accept({ confirm: true }) }, { auth });
      const done = await server.until(id, 'completed', { auth });
      expect(done.result?.content[0]?.text).toBe(auth.extra?.['sub']);
    }
  });

  it('ends as an error of its tool when its journal becomes too large', async () => {
    const server = taskServer(
      (flows) =>
        flows.registerTool('t', { task: 'optional' }, async (flow) => {
          await flow.step('large', () => 'x'.repeat(5_000));
          return text('done');
        }),
      { limits: { overflowBytes: 2_000 } },
    );
    const done = await server.until(await server.begin('t'), 'completed');
    expect(done.result).toMatchObject({ isError: true });
    expect(done.result?.content[0]?.text).toContain(`'large'`);
  });

  it('may ask only so much in its life: keys are never used twice (TASK-18)', async () => {
    const server = taskServer(
      (flows) =>
        flows.registerTool('t', { task: 'optional' }, async (flow) => {
          const keys = Array.from({ length: 257 }, (_, index) => `q${index}`);
          await Promise.all(keys.map((key) => flow.confirm(key, `${key}?`)));
          return text('done');
        }),
      { limits: { questions: 1_000 } },
    );
    const done = await server.until(await server.begin('t'), 'completed');
    expect(done.result?.content[0]?.text).toContain('256 questions');
  });
});

describe('tasks in memory', () => {
  it('refuses a task too many, in words that say so, and takes one again when there is room', async () => {
    let now = Date.now();
    const server = taskServer(
      (flows) => flows.registerTool('t', { task: 'optional' }, async () => text('done')),
      {
        now: () => now,
        memory: { maxTasks: 2, ttl: 1_000 },
      },
    );
    await server.begin('t');
    await server.begin('t');
    const refused = await server.tool('t');
    expect(refused.error).toMatchObject({ code: -32_603 });
    expect(refused.error?.message).toContain('maxTasks');
    now += 1_001;
    await server.begin('t');
    expect(server.tasks.size).toBe(1);
  });

  it('lets go of 1,000 tasks that ended, when their time is over', async () => {
    let now = Date.now();
    const server = taskServer(
      (flows) => flows.registerTool('t', { task: 'optional' }, async () => text('done')),
      {
        now: () => now,
        memory: { ttl: 1_000 },
      },
    );
    const ids: string[] = [];
    for (let count = 0; count < 1_000; count += 1) ids.push(await server.begin('t'));
    await server.until(ids.at(-1) ?? '', 'completed');
    expect(server.tasks.size).toBe(1_000);
    now += 1_001;
    for (let count = 0; count < 400; count += 1) await server.begin('t');
    expect(server.tasks.size).toBeLessThan(800);
  });

  it.each([{ maxTasks: 0 }, { concurrency: 1.5 }, { ttl: -1 }, { pollInterval: Number.NaN }])(
    'refuses %o',
    (memory) => {
      expect(() => taskServer(() => undefined, { memory })).toThrow(/positive whole number/);
    },
  );

  it('serves clients with and without tasks from one handler', async () => {
    const server = taskServer((flows) =>
      flows.registerTool('t', { task: 'optional' }, async () => text('done')),
    );
    const [task, plain] = await Promise.all([
      server.tool('t', {}, { capabilities: FULL }),
      server.tool('t', {}, { capabilities: WITHOUT_TASKS }),
    ]);
    expect(task.result?.resultType).toBe('task');
    expect(plain.result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
  });
});
