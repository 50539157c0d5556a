import { ProtocolError } from '@modelcontextprotocol/client';
import { inputRequired } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import {
  drive,
  flowOf,
  TaskCancelled,
  TaskGone,
  type AskContext,
  type FormQuestion,
  type SavedTask,
} from '../../src/client/index.js';
import {
  CALL,
  connectTo,
  done,
  failureOf,
  filling,
  optionsWith,
  printed,
  scripted,
  TASKS,
  testClock,
  textForm,
} from './harness.js';
import { taskServer, type HandTask } from './servers/tasks.js';
import {
  asks,
  capabilitiesOf,
  completed,
  look,
  looking,
  made,
  methods,
  text,
  TASK_ID,
} from './task-script.js';

/** Work that asks for two things at once and for a third one then. */
function deploy(task: HandTask): void {
  const [region, size, sure] = ['region', 'size', 'sure'].map((key) => task.answer(key));
  if (region === undefined || size === undefined) {
    const open = { region: textForm('Region?'), size: textForm('Size?') };
    task.ask(
      Object.fromEntries(
        Object.entries(open).filter(([key]) => task.answer(key) === undefined && task.status !== 'completed'),
      ),
    );
  } else if (sure === undefined) task.ask({ sure: textForm('Sure?') });
  else task.complete(text(JSON.stringify([region, size, sure])));
}

/** Work that takes so many looks. */
function takes(looks: number): (task: HandTask) => void {
  let seen = -1;
  return (task) => ((seen += 1) < looks ? task.working(`${seen}`) : task.complete(text('done')));
}

describe('a call that becomes a task', () => {
  it('gives its result as if it had been none, and so does one that does not (TASK-05, TASK-47)', async () => {
    const { create } = taskServer(takes(2));
    const { client, sent } = await connectTo(create);
    const result = await drive(client, CALL, optionsWith());
    expect(result).toMatchObject(text('done'));
    expect(result).not.toHaveProperty('resultType');
    expect(methods(sent)).toEqual(['tools/call', 'get', 'get']);

    const plain = await connectTo(taskServer(takes(0), () => done('at once')).create);
    expect(await drive(plain.client, CALL, optionsWith())).toMatchObject(text('at once'));
  });

  it('is looked at by its id and with the extension declared, and with nothing else (TASK-14, TASK-30)', async () => {
    const { create, tasks } = taskServer(deploy);
    const { client, sent } = await connectTo(create);
    await drive(client, CALL, optionsWith());
    const [id] = tasks.keys();
    for (const { method, params, headers } of sent.slice(1)) {
      const { _meta, ...rest } = params;
      expect(rest).toEqual({
        taskId: id,
        ...(method === 'tasks/update' && { inputResponses: rest.inputResponses }),
      });
      expect(headers.get('mcp-name')).toBe(id);
      expect(headers.get('mcp-method')).toBe(method);
    }
    for (const each of sent) {
      expect(capabilitiesOf(each)).toEqual({ elicitation: { form: {} }, extensions: TASKS });
    }
  });

  it('asks through the same handlers; each question once, each answer once (TASK-22, TASK-23)', async () => {
    const { create } = taskServer(deploy);
    const { client, sent } = await connectTo(create);
    const asked: FormQuestion[] = [];
    const rounds: number[] = [];
    const handlers = {
      form: (question: FormQuestion, { round }: AskContext) => {
        asked.push(question);
        rounds.push(round);
        return { action: 'accept', content: { text: question.key } } as const;
      },
    };
    const result = await drive(client, CALL, optionsWith({ handlers }));
    expect(asked.map(({ message }) => message)).toEqual(['Region?', 'Size?', 'Sure?']);
    expect(rounds).toEqual([2, 2, 3]);
    const answer = (key: string) => ({ action: 'accept', content: { text: key } });
    expect(result).toMatchObject(text(JSON.stringify(['region', 'size', 'sure'].map(answer))));
    const updates = sent.filter(({ method }) => method === 'tasks/update');
    expect(updates.map(({ params }) => params.inputResponses)).toEqual([
      { region: answer('region'), size: answer('size') },
      { sure: answer('sure') },
    ]);
  });

  it('a refusal of the person is an answer', async () => {
    const { create } = taskServer((task) => {
      const answer = task.answer('q');
      if (answer === undefined) task.ask({ q: textForm() });
      else task.complete(text(JSON.stringify(answer)));
    });
    const { client } = await connectTo(create);
    const handlers = { form: () => ({ action: 'decline' }) as const };
    expect(await drive(client, CALL, optionsWith({ handlers }))).toMatchObject(
      text(JSON.stringify({ action: 'decline' })),
    );
  });

  it('after rounds: the same key is another question, and nothing of the rounds travels on (TASK-12, TASK-13)', async () => {
    const { create } = taskServer(
      (task) => {
        if (task.answer('q') === undefined) task.ask({ q: textForm('In the task?') });
        else task.complete(text('done'));
      },
      (responses) =>
        responses?.['q'] === undefined
          ? inputRequired({
              inputRequests: { q: textForm('In a round?') as never },
              requestState: 'the state of the round',
            })
          : undefined,
    );
    const { client, sent } = await connectTo(create);
    const asked: FormQuestion[] = [];
    await drive(client, CALL, optionsWith({ handlers: filling(asked) }));
    expect(asked.map(({ key, message }) => [key, message])).toEqual([
      ['q', 'In a round?'],
      ['q', 'In the task?'],
    ]);
    expect(methods(sent)).toEqual(['tools/call', 'tools/call', 'get', 'update', 'get']);
    expect(sent[1]?.params.requestState).toBe('the state of the round');
    for (const { params } of sent.slice(2)) expect(JSON.stringify(params)).not.toContain('the state');
  });

  it('tells the host how it stands, as often as that changes (TASK-49)', async () => {
    const { create } = taskServer(takes(2));
    const { client } = await connectTo(create);
    const seen: SavedTask[] = [];
    await drive(client, CALL, optionsWith({ onTask: (task) => seen.push(task) }));
    expect(seen.map(({ status, statusMessage }) => [status, statusMessage])).toEqual([
      ['working', '0'],
      ['working', '1'],
    ]);
  });

  it('a page to open needs the same consent, and an unsafe one fails the call (TASK-24)', async () => {
    const opening = (url: string) =>
      connectTo(
        taskServer((task) => {
          if (task.answer('u') !== undefined) return task.complete(text('done'));
          return task.ask({
            u: { method: 'elicitation/create', params: { mode: 'url', message: 'Pay', url } },
          });
        }).create,
      );
    const hosts: string[] = [];
    const handlers = {
      url: ({ host }: { host: string }) => {
        hosts.push(host);
        return { action: 'accept' } as const;
      },
    };
    const { client, sent } = await opening('https://pay.example/now');
    await drive(client, CALL, optionsWith({ handlers }));
    expect(hosts).toEqual(['pay.example']);
    expect(sent.at(-2)?.params.inputResponses).toEqual({ u: { action: 'accept' } });

    const unsafe = await opening('javascript:alert(1)');
    const failure = await failureOf(drive(unsafe.client, CALL, optionsWith({ handlers })));
    expect(failure).toMatchObject({ code: 'unsafe_url' });
    expect(hosts).toHaveLength(1);
    const undeclared = await opening('https://pay.example/now');
    expect(await failureOf(drive(undeclared.client, CALL, optionsWith()))).toMatchObject({
      code: 'invalid_response',
    });
  });

  it('has no part in other calls over the same client, and leaves its transport as it was', async () => {
    const { create } = taskServer(takes(1));
    const { client } = await connectTo(create);
    const transport = client.transport!;
    const members = () => [Reflect.get(transport, 'send'), transport.onmessage, Object.keys(transport)];
    const before = members();
    const others = client.callTool({ name: 't' });
    const results = await Promise.all([1, 2, 3].map(() => drive(client, CALL, optionsWith())));
    expect(results.map(({ content }) => content)).toEqual([1, 2, 3].map(() => text('done').content));
    expect(await others).toMatchObject(text('without a task'));
    expect(members()).toEqual(before);
  });
});

describe('where tasks are declared', () => {
  it('not when the host takes none; a server that knows no other way then says so (TASK-03)', async () => {
    const { create } = taskServer(takes(2));
    const { client, sent } = await connectTo(create);
    const capabilities = { extensions: { ...TASKS, 'com.example/other': {} } };
    const result = await drive(client, CALL, optionsWith({ tasks: false, capabilities }));
    expect(result).toMatchObject(text('without a task'));
    expect(capabilitiesOf(sent[0]!)).toEqual({
      elicitation: { form: {} },
      extensions: { 'com.example/other': {} },
    });
  });

  it('a task that comes all the same is no response that was allowed (CORE-05)', async () => {
    const task = made();
    const { client } = await scripted(() => task);
    const failure = await failureOf(drive(client, CALL, optionsWith({ tasks: false })));
    expect(failure).toMatchObject({ code: 'invalid_response' });
  });

  it.each(['prompts/get', 'resources/read'] as const)(
    'not for %s, where a task is an invalid response (TASK-06)',
    async (method) => {
      const { client, sent } = await scripted(() => made());
      const params = { name: 'p', uri: 'file:///p' };
      const request =
        method === 'prompts/get'
          ? { method, params: { name: params.name } }
          : { method, params: { uri: params.uri } };
      const failure = await failureOf(drive(client, request, optionsWith()));
      expect(failure).toMatchObject({ code: 'invalid_response' });
      expect(capabilitiesOf(sent[0]!)).toEqual({ elicitation: { form: {} } });
    },
  );
});

describe('how a task ends', () => {
  it('with an error of the tool: that is a result (TASK-17)', async () => {
    const result = { ...text('no such region'), isError: true };
    const { client } = await looking(() => look({ status: 'completed', result }));
    expect(await drive(client, CALL, optionsWith())).toEqual(result);
  });

  it('with an error of the protocol: what the call would have thrown (TASK-47)', async () => {
    const error = { code: -32_000, message: `No quota for ${TASK_ID}`, data: { left: 0 } };
    const { client } = await looking(() => look({ status: 'failed', error }));
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(failure).toMatchObject({ code: -32_000, data: { left: 0 } });
    expect(printed(failure)).not.toContain(TASK_ID);
  });

  it('an internal error that the task failed with is its end, and not looked at again', async () => {
    const error = { code: -32_603, message: 'Task expired' };
    const { client, sent } = await looking(() => look({ status: 'failed', error }));
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({ code: -32_603 });
    expect(methods(sent)).toEqual(['tools/call', 'get']);
  });

  it('cancelled by others', async () => {
    const { client } = await looking(() => look({ status: 'cancelled' }));
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(TaskCancelled);
    expect(failure).toMatchObject({ code: 'task_cancelled' });
  });

  it.each([
    ['unknown', 1000],
    ['expired', 70_000],
  ] as const)('unknown to the server (%s), and nobody looks again (TASK-29, TASK-36)', async (reason, ms) => {
    const clock = testClock();
    const { client, sent } = await looking((nth) => {
      if (nth === 1) return look();
      clock.advance(ms);
      return { code: -32_602, message: `Unknown task ${TASK_ID}` };
    });
    const failure = await failureOf(drive(client, CALL, optionsWith({ clock })));
    expect(failure).toBeInstanceOf(TaskGone);
    expect(failure).toMatchObject({ code: 'task_gone', reason });
    expect(flowOf(failure)).toBeUndefined();
    expect(printed(failure)).not.toContain(TASK_ID);
    expect(methods(sent)).toEqual(['tools/call', 'get', 'get']);
  });

  it.each(['completed', 'failed', 'cancelled', 'input_required'])(
    'a task that is %s from the start is looked at at once, for what it holds (GAP-49)',
    async (status) => {
      const clock = testClock();
      const { client } = await looking(completed, { status, pollIntervalMs: 4000 });
      await drive(client, CALL, optionsWith({ clock }));
      expect(clock.slept).toEqual([]);
    },
  );

  it('with or without saying that its result is final (GAP-40)', async () => {
    const { client } = await looking(() => look({ status: 'completed', result: text('old') }));
    expect(await drive(client, CALL, optionsWith())).toEqual(text('old'));
  });
});

describe('how often it is looked at', () => {
  it('as the latest answer says (TASK-34)', async () => {
    const clock = testClock();
    const intervals = [2000, 500, 4000];
    const { client } = await looking(
      (nth) => (nth > 3 ? completed() : look({ pollIntervalMs: intervals[nth - 1] })),
      { pollIntervalMs: 1000 },
    );
    await drive(client, CALL, optionsWith({ clock }));
    expect(clock.slept).toEqual([1000, ...intervals]);
  });

  it('by default after a second, and less and less often, until there is something new (GAP-45)', async () => {
    const clock = testClock(60_000);
    const { client } = await looking((nth) => {
      if (nth > 8) return completed();
      return look(nth > 6 ? { statusMessage: 'half done' } : {});
    });
    await drive(client, CALL, optionsWith({ clock }));
    expect(clock.slept).toEqual([1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 1000, 2000]);
  });

  it.each<[unknown, number[]]>([
    [0, [1000]],
    [-5, [1000]],
    [1, [100]],
    [300_000, [300_000]],
    [1e12, [3_600_000]],
  ])('%d ms: %j', async (pollIntervalMs, slept) => {
    const clock = testClock(10_000_000);
    const { client } = await looking(completed, { pollIntervalMs });
    await drive(client, CALL, optionsWith({ clock }));
    expect(clock.slept).toEqual(slept);
  });

  it('at once after somebody took longer than that to answer', async () => {
    const clock = testClock();
    const { client, sent } = await looking((nth) => (nth > 1 ? completed() : asks({ q: textForm() })));
    const handlers = {
      form: () => {
        clock.advance(1000);
        return { action: 'accept', content: { text: 'x' } } as const;
      },
    };
    await drive(client, CALL, optionsWith({ clock, handlers }));
    expect(clock.slept).toEqual([1000]);
    expect(methods(sent)).toEqual(['tools/call', 'get', 'update', 'get']);
  });
});
