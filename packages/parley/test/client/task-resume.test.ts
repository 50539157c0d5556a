import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  drive,
  fileStore,
  flowOf,
  loadFlow,
  resume,
  SavedFlowForeign,
  SavedFlowInvalid,
  type FormQuestion,
  type SavedFlow,
} from '../../src/client/index.js';
import {
  CALL,
  connectTo,
  failureOf,
  filling,
  optionsWith,
  printed,
  textForm,
  URL_OF_SERVER,
} from './harness.js';
import { taskServer, type HandTask } from './servers/tasks.js';
import { completed, looking, methods, text, TASK_ID } from './task-script.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-task-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Work that asks two questions, one after another. */
function deploy(task: HandTask): void {
  const [region, sure] = [task.answer('region'), task.answer('sure')];
  if (region === undefined) task.ask({ region: textForm('Region?') });
  else if (sure === undefined) task.ask({ sure: textForm('Sure?') });
  else task.complete(text('deployed'));
}

/** Answers what it can, and leaves the rest to somebody else. */
function answering(keys: readonly string[], asked: string[]) {
  return {
    form: ({ key }: FormQuestion) => {
      asked.push(key);
      if (!keys.includes(key)) throw new Error('ask the manager tomorrow');
      return { action: 'accept', content: { text: key } } as const;
    },
  };
}

describe('a task that is left and taken up again (TASK-35)', () => {
  it('goes on in another client, from a file, with nothing asked twice that was answered', async () => {
    const store = fileStore(join(folder, 'flow.json'));
    const { create, tasks } = taskServer(deploy);
    const first = await connectTo(create);
    const asked: string[] = [];
    const leaving = optionsWith({ store, handlers: answering(['region'], asked) });
    const failure = await failureOf(drive(first.client, CALL, leaving));
    expect(failure).toMatchObject({ code: 'unanswered', key: 'sure' });
    await first.client.close();
    expect([...tasks.values()].map(({ status }) => status)).toEqual(['input_required']);

    const saved = await store.load();
    expect(saved).toMatchObject({
      questions: [{ key: 'sure', message: 'Sure?' }],
      task: { id: [...tasks.keys()][0], status: 'input_required', answered: ['region'] },
    });
    expect(saved).not.toHaveProperty('requestState');
    const second = await connectTo(create);
    const options = optionsWith({ store, handlers: answering(['region', 'sure'], asked) });
    expect(await resume(second.client, saved, options)).toMatchObject(text('deployed'));
    expect(asked).toEqual(['region', 'sure', 'sure']);
    expect(methods(second.sent)).toEqual(['get', 'update', 'get']);
    expect(await store.load()).toBeUndefined();
  });

  it('is saved as soon as it exists, before the first look', async () => {
    let saved: SavedFlow | undefined;
    const store = fileStore(join(folder, 'flow.json'));
    const { client } = await looking(async (nth) => {
      if (nth === 1) saved = await store.load();
      return completed();
    });
    await drive(client, CALL, optionsWith({ store }));
    expect(saved?.task).toMatchObject({ id: TASK_ID, status: 'working' });
    expect(saved).not.toHaveProperty('sentAt');
  });

  it('is looked at before anybody is asked what it asked then', async () => {
    const store = fileStore(join(folder, 'flow.json'));
    const { create, tasks } = taskServer(deploy);
    const first = await connectTo(create);
    const asked: string[] = [];
    const options = optionsWith({ store, handlers: answering([], asked) });
    await failureOf(drive(first.client, CALL, options));
    // Somebody else answers in the meantime, by another way.
    for (const task of tasks.values()) {
      task.take({ region: {} });
      deploy(task);
      task.take({ sure: {} });
    }
    expect(await resume(first.client, await store.load(), options)).toMatchObject(text('deployed'));
    expect(asked).toEqual(['region']);
  });

  it('the store is cleared however it ends, and only then', async () => {
    const store = fileStore(join(folder, 'flow.json'));
    const ends = async (look: (nth: number) => unknown): Promise<boolean> => {
      const { client } = await looking(look);
      const options = optionsWith({ store, policy: { task: { failures: 1 } } });
      await drive(client, CALL, options).catch(() => undefined);
      const isCleared = (await store.load()) === undefined;
      await store.clear();
      return isCleared;
    };
    const shown = (members: object) => ({ ...completed(), result: undefined, ...members });
    expect(await ends(completed)).toBe(true);
    expect(await ends(() => shown({ status: 'failed', error: { code: 1, message: 'x' } }))).toBe(true);
    expect(await ends(() => shown({ status: 'cancelled' }))).toBe(true);
    expect(await ends(() => ({ code: -32_602, message: 'unknown' }))).toBe(true);
    expect(await ends(() => new Response('', { status: 500 }))).toBe(false);
    expect(await ends(() => new Response('', { status: 401 }))).toBe(false);
    expect(await ends(() => shown({ status: 'nonsense' }))).toBe(false);
  });

  it('past its deadline it is cancelled, and nobody is asked', async () => {
    const { create, log } = taskServer(deploy);
    const { client } = await connectTo(create);
    const asked: string[] = [];
    const handlers = answering([], asked);
    const flow = flowOf(await failureOf(drive(client, CALL, optionsWith({ handlers }))));
    const late = optionsWith({ handlers, policy: { deadlineMs: 1 } });
    expect(await failureOf(resume(client, { ...flow!, beganAt: 0 }, late))).toMatchObject({
      bound: 'deadlineMs',
    });
    expect(asked).toEqual(['region']);
    expect(log.at(-1)).toBe('cancel');
  });

  it('is refused for another server, and for somebody else', async () => {
    const { client, sent } = await looking(completed);
    const others = [{ url: 'http://127.0.0.1/other' }, { url: URL_OF_SERVER, principal: 'ann' }];
    for (const server of others) {
      expect(await failureOf(resume(client, FLOW, optionsWith({ server })))).toBeInstanceOf(SavedFlowForeign);
    }
    expect(sent).toHaveLength(0);
  });

  it('goes on where tasks are not taken any more: this one is there', async () => {
    const { client, sent } = await looking(completed);
    expect(await resume(client, FLOW, optionsWith({ tasks: false, handlers: filling() }))).toMatchObject(
      text('done'),
    );
    expect(methods(sent)).toEqual(['get']);
  });
});

const FLOW: SavedFlow = {
  format: 'parley-flow',
  version: 1,
  id: 'a',
  revision: 1,
  server: { url: URL_OF_SERVER, principal: null },
  request: CALL,
  round: 2,
  waits: 0,
  questions: [
    {
      key: 'q',
      kind: 'form',
      message: 'Name?',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
    },
  ],
  repeats: { digest: 'd', times: 1 },
  beganAt: 1,
  askedAt: 2,
  task: {
    id: TASK_ID,
    status: 'input_required',
    statusMessage: 'half done',
    ttlMs: 60_000,
    pollIntervalMs: 500,
    seenAt: 3,
    answered: ['__proto__', ''],
  },
};

describe('loadFlow reads a flow that is a task', () => {
  const withTask = (members: object) => ({ ...FLOW, task: { ...FLOW.task, ...members } });

  it('as it was written, with all that may be absent or not', () => {
    expect(loadFlow(JSON.stringify(FLOW))).toEqual(FLOW);
    expect(loadFlow(FLOW)).toEqual(FLOW);
    const { statusMessage: _, pollIntervalMs: _interval, ...least } = FLOW.task!;
    const bare = { ...FLOW, questions: [], task: { ...least, ttlMs: null, status: 'working', answered: [] } };
    expect(loadFlow(JSON.stringify(bare))).toEqual(bare);
  });

  it.each<[string, unknown]>([
    ['a task that is a text', { ...FLOW, task: TASK_ID }],
    ['null for a task', { ...FLOW, task: null }],
    ['a member too many', withTask({ result: {} })],
    ['no id', withTask({ id: undefined })],
    ['an id with a line break', withTask({ id: `${TASK_ID}\n` })],
    ['an id of 1 MB', withTask({ id: TASK_ID.repeat(100_000) })],
    ['a status that is none', withTask({ status: 'asking' })],
    ['a message that is none', withTask({ statusMessage: 7 })],
    ['no time to live', withTask({ ttlMs: undefined })],
    ['a time to live of -1', withTask({ ttlMs: -1 })],
    ['an interval of 0', withTask({ pollIntervalMs: 0 })],
    ['an interval of 1.5', withTask({ pollIntervalMs: 1000.5 })],
    ['a time that is none', withTask({ seenAt: 'now' })],
    ['no list of keys', withTask({ answered: { q: true } })],
    ['a key that is a number', withTask({ answered: [7] })],
    ['a key twice', withTask({ answered: ['a', 'a'] })],
    ['a question that was answered', withTask({ answered: ['q'] })],
    ['a state beside it', { ...FLOW, requestState: TASK_ID }],
    ['a retry under way beside it', { ...FLOW, sentAt: 5 }],
    ['a request that becomes none', { ...FLOW, request: { method: 'prompts/get', params: { name: 'p' } } }],
  ])('and refuses %s', (_, saved) => {
    const load = () => loadFlow(JSON.stringify(saved));
    expect(load).toThrow(SavedFlowInvalid);
    try {
      load();
    } catch (error) {
      expect(printed(error)).not.toContain(TASK_ID);
    }
  });
});
