import { describe, expect, it } from 'vitest';
import {
  drive,
  flowOf,
  InvalidResponse,
  ParleyError,
  resume,
  TaskUnreachable,
  type FormQuestion,
} from '../../src/client/index.js';
import {
  CALL,
  connectTo,
  failureOf,
  filling,
  interim,
  optionsWith,
  PASS,
  printed,
  scripted,
  testClock,
  textForm,
} from './harness.js';
import { taskServer } from './servers/tasks.js';
import { asks, completed, look, looking, made, methods, text, TASK_ID } from './task-script.js';

describe('a task that is none', () => {
  it.each<[string, Record<string, unknown>]>([
    ['an id that is a number', { taskId: 7 }],
    ['no id', { taskId: undefined }],
    ['an empty id', { taskId: '' }],
    ['an id of 1 MB', { taskId: 'x'.repeat(1_000_000) }],
    ['an id of several lines', { taskId: 'a\r\nAuthorization: Bearer x' }],
    ['an id with a terminal escape', { taskId: 'a\u001b[2J' }],
    ['an id with a character of the C1 range', { taskId: 'a\u009bx' }],
    ['an id that is no Unicode', { taskId: 'a\ud800' }],
    ['an unknown status', { status: 'paused' }],
    ['a status of the prototype', { status: 'toString' }],
    ['no status', { status: undefined }],
    ['no time to live', { ttlMs: undefined }],
    ['a time to live that is a text', { ttlMs: '60000' }],
    ['an interval that is a text', { pollIntervalMs: '1s' }],
    ['a message that is an object', { statusMessage: {} }],
  ])('%s: nothing is asked about it', async (_, members) => {
    const { client, sent } = await looking(completed, members);
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(InvalidResponse);
    for (const part of ['Bearer', '[2J', 'xxxxxxxxxx']) expect(printed(failure)).not.toContain(part);
    expect(methods(sent)).toEqual(['tools/call']);
  });

  it('an id of any other letters goes back as it came, in a header that can carry it', async () => {
    const taskId = 'Aufgabe/ä 任務?#=🙂';
    const { client, sent } = await looking(() => ({ ...completed(), taskId }), { taskId });
    await drive(client, CALL, optionsWith());
    expect(sent[1]?.params.taskId).toBe(taskId);
    const header = sent[1]?.headers.get('mcp-name') ?? '';
    expect(Buffer.from(header.slice('=?base64?'.length, -2), 'base64').toString()).toBe(taskId);
  });

  it('a message of 1 MB is cut', async () => {
    const { client } = await looking(completed, { statusMessage: 'x'.repeat(1_000_000) });
    const lengths: unknown[] = [];
    await drive(client, CALL, optionsWith({ onTask: (task) => lengths.push(task.statusMessage?.length) }));
    expect(lengths).toEqual([1000]);
  });
});

describe('a look that shows what cannot be', () => {
  const first = look({ pollIntervalMs: 100 });
  it.each<[string, unknown]>([
    ['another task', { ...first, taskId: 'task-9876543210' }],
    ['no task', { resultType: 'complete' }],
    ['a task in place of how it stands (TASK-07)', made()],
    ['a question in the way of rounds', { resultType: 'input_required', requestState: 's' }],
    ['an unknown status', look({ status: 'done' })],
    ['an end without a result', look({ status: 'completed' })],
    ['a result that is a text', look({ status: 'completed', result: 'done' })],
    ['a result whose content is a text', look({ status: 'completed', result: { content: 'done' } })],
    ['a result that asks', look({ status: 'completed', result: { resultType: 'input_required' } })],
    ['a result that is a task', look({ status: 'completed', result: { ...made(), content: [] } })],
    ['a failure without an error', look({ status: 'failed' })],
    ['an error without a number', look({ status: 'failed', error: { message: 'x' } })],
    ['questions that are none', look({ status: 'input_required' })],
    ['questions in a list', asks([textForm()])],
    ['a question of an unknown method', asks({ q: { method: 'tools/call', params: {} } })],
    ['65 questions', asks(Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`q${n}`, textForm()])))],
  ])('%s', async (_, second) => {
    const { client, sent } = await looking((nth) => (nth === 1 ? first : second));
    const asked: FormQuestion[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).toBeInstanceOf(InvalidResponse);
    expect(methods(sent)).toEqual(['tools/call', 'get', 'get']);
    expect(asked).toEqual([]);
    // The task goes on, whatever the server said of it.
    expect(flowOf(failure)?.task).toMatchObject({ id: TASK_ID });
    expect(printed(failure)).not.toContain(TASK_ID);
  });
});

it('a look that asks in the way of rounds is not answered by handlers of the client', async () => {
  const asksInRounds = interim({ inputRequests: { q: textForm() }, requestState: 's' });
  const { client, sent } = await connectTo(
    taskServer((task) => task.working()).create,
    ({ method }) => (method === 'tasks/get' ? asksInRounds : PASS),
    { autoFulfill: true, capabilities: { elicitation: { form: {} } } },
  );
  let answered = 0;
  client.setRequestHandler('elicitation/create', () => {
    answered += 1;
    return { action: 'accept', content: { text: 'x' } };
  });
  expect(await failureOf(drive(client, CALL, optionsWith()))).toBeInstanceOf(InvalidResponse);
  expect(answered).toBe(0);
  expect(methods(sent)).toEqual(['tools/call', 'get']);
});

describe('keys of what a task asks', () => {
  it('of any name are asked and answered, and touch no prototype', async () => {
    const keys = ['__proto__', '', 'undefined', 'constructor', 'toString', '0'];
    const questions = JSON.parse(
      `{${keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(textForm(key))}`).join(',')}}`,
    ) as unknown;
    const { client, sent } = await looking((nth) => (nth === 1 ? asks(questions) : completed()));
    const asked: FormQuestion[] = [];
    await drive(client, CALL, optionsWith({ handlers: filling(asked) }));
    expect(asked.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
    expect(Object.keys(sent[2]?.params.inputResponses ?? {}).toSorted()).toEqual(keys.toSorted());
    expect(({} as { action?: unknown }).action).toBeUndefined();
  });

  it('that were answered are not asked again, and the task is given up that asks nothing else', async () => {
    const { client, sent } = await looking(() => asks({ q: textForm() }));
    const asked: FormQuestion[] = [];
    const policy = { task: { stalePolls: 5 } };
    const options = optionsWith({ handlers: filling(asked), policy, clock: testClock(60_000) });
    const failure = await failureOf(drive(client, CALL, options));
    expect(failure).toMatchObject({ code: 'going_nowhere', keys: ['q'], times: 5 });
    expect(asked).toHaveLength(1);
    expect(methods(sent)).toEqual(['tools/call', 'get', 'update', ...Array<string>(5).fill('get')]);
    expect(flowOf(failure)?.task?.answered).toEqual(['q']);
  });

  it('answered ones beside a new one: only that is asked', async () => {
    const { client } = await looking((nth) =>
      nth > 2 ? completed() : asks({ a: textForm('A?'), ...(nth > 1 && { b: textForm('B?') }) }),
    );
    const asked: FormQuestion[] = [];
    await drive(client, CALL, optionsWith({ handlers: filling(asked) }));
    expect(asked.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('none at all, again and again: it is given up', async () => {
    const { client } = await looking(() => asks({}));
    const failure = await failureOf(drive(client, CALL, optionsWith({ clock: testClock(60_000) })));
    expect(failure).toMatchObject({ code: 'going_nowhere', keys: [], times: 20 });
  });
});

describe('a server that does not answer a look', () => {
  const failing: [string, () => unknown][] = [
    ['the connection fails', () => Promise.reject(new TypeError('fetch failed'))],
    ['a gateway is alone', () => new Response(`no upstream for ${TASK_ID}`, { status: 502 })],
    ['it is looked at too often (GAP-50)', () => new Response('', { status: 429 })],
    ['it has an error of its own', () => ({ code: -32_603, message: `Internal error: ${TASK_ID}` })],
  ];

  it.each(failing)('%s: it is asked again, after longer and longer pauses', async (_, fail) => {
    const clock = testClock(60_000);
    const { client } = await looking((nth) => (nth <= 6 ? fail() : completed()), {
      pollIntervalMs: 1500,
    });
    expect(await drive(client, CALL, optionsWith({ clock }))).toMatchObject(text('done'));
    expect(clock.slept).toEqual([1500, 1500, 2000, 4000, 8000, 15_000, 15_000]);
  });

  it.each(failing)('%s: not without end', async (_, fail) => {
    const { client, sent } = await looking(fail);
    const policy = { task: { failures: 2 } };
    const failure = await failureOf(drive(client, CALL, optionsWith({ policy })));
    expect(failure).toBeInstanceOf(TaskUnreachable);
    expect(failure).toMatchObject({ code: 'task_unreachable', attempts: 3 });
    expect(failure.cause).toBeInstanceOf(Error);
    expect(printed(failure)).not.toContain(TASK_ID);
    expect(methods(sent)).toEqual(['tools/call', 'get', 'get', 'get']);
    expect(flowOf(failure)?.task).toMatchObject({ id: TASK_ID });
  });

  it('what failed before does not count once it answers', async () => {
    const { client } = await looking((nth) => {
      if (nth === 12) return completed();
      return nth % 2 === 1 ? new Response('', { status: 503 }) : look();
    });
    const policy = { task: { failures: 1 } };
    await drive(client, CALL, optionsWith({ policy, clock: testClock(60_000) }));
  });

  it.each<[string, () => unknown]>([
    ['it does not know the method', () => ({ code: -32_601, message: 'Method not found' })],
    [
      'it misses a capability',
      () => ({ code: -32_021, message: 'Missing', data: { requiredCapabilities: {} } }),
    ],
  ])('%s: that does not pass, and is the error of the client', async (_, fail) => {
    const { client, sent } = await looking(fail);
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).not.toBeInstanceOf(ParleyError);
    expect(methods(sent)).toEqual(['tools/call', 'get']);
  });

  it('HTTP turns it away: that does not pass, and the flow is not lost, as somebody may sign in anew', async () => {
    const { client, sent } = await looking((nth) =>
      nth === 1 ? new Response('', { status: 401 }) : completed(),
    );
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(TaskUnreachable);
    expect(failure).toMatchObject({ attempts: 1, cause: { status: 401 } });
    expect(methods(sent)).toEqual(['tools/call', 'get']);
    expect(await resume(client, flowOf(failure), optionsWith())).toMatchObject(text('done'));
  });

  it('a connection that is closed for good: the flow goes on over another one', async () => {
    const { client } = await looking(async (nth) => {
      if (nth === 2) await client.close();
      return look();
    });
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toBeInstanceOf(TaskUnreachable);
    expect(await failureOf(resume(client, flowOf(failure), optionsWith()))).toMatchObject({
      code: 'configuration',
    });
    const other = await looking(completed);
    expect(await resume(other.client, flowOf(failure), optionsWith())).toMatchObject(text('done'));
  });
});

describe('answers that may not have arrived', () => {
  /** Loses so many updates; `arrives` tells whether the server sees them all the same. */
  function losing(times: number, arrives: boolean, fail: () => unknown) {
    let isAnswered = false;
    let updates = 0;
    return scripted(({ method }) => {
      if (method === 'tools/call') return made();
      if (method === 'tasks/get') return isAnswered ? completed() : asks({ q: textForm() });
      updates += 1;
      isAnswered ||= arrives || updates > times;
      return updates > times ? { resultType: 'complete' } : fail();
    });
  }
  const drop = () => Promise.reject(new TypeError('fetch failed'));

  it('and did: a look shows it, and they are not sent again', async () => {
    const { client, sent } = await losing(1, true, drop);
    const asked: FormQuestion[] = [];
    await drive(client, CALL, optionsWith({ handlers: filling(asked) }));
    expect(methods(sent)).toEqual(['tools/call', 'get', 'update', 'get']);
    expect(asked).toHaveLength(1);
  });

  it('and did, as one look shows and the next does not: they are settled', async () => {
    const { client } = await scripted(({ method }, nth) => {
      if (method === 'tools/call') return made();
      if (method === 'tasks/update') return drop();
      if (nth === 4) return look();
      return nth > 6 ? completed() : asks({ q: textForm() });
    });
    const asked: FormQuestion[] = [];
    await drive(client, CALL, optionsWith({ handlers: filling(asked) }));
    expect(asked).toHaveLength(1);
  });

  it('and did not: the same ones are sent again, and nobody is asked again', async () => {
    const { client, sent } = await losing(2, false, drop);
    const asked: FormQuestion[] = [];
    await drive(client, CALL, optionsWith({ handlers: filling(asked) }));
    expect(methods(sent)).toEqual(['tools/call', 'get', 'update', 'get', 'update', 'get', 'update', 'get']);
    const updates = sent.filter(({ method }) => method === 'tasks/update');
    expect(new Set(updates.map(({ params }) => JSON.stringify(params.inputResponses))).size).toBe(1);
    expect(asked).toHaveLength(1);
  });

  it('not without end, also where looks work', async () => {
    const { client } = await losing(100, false, drop);
    const asked: FormQuestion[] = [];
    const options = optionsWith({ handlers: filling(asked), policy: { task: { failures: 3 } } });
    const failure = await failureOf(drive(client, CALL, options));
    expect(failure).toMatchObject({ code: 'task_unreachable', attempts: 4 });
    expect(flowOf(failure)).toMatchObject({ questions: [{ key: 'q' }], task: { answered: [] } });
    expect(asked).toHaveLength(1);
  });

  it('what was lost before does not count once they arrived', async () => {
    let answered = 0;
    let updates = 0;
    const { client } = await scripted(({ method }) => {
      if (method === 'tools/call') return made();
      if (method === 'tasks/get') {
        return answered === 2 ? completed() : asks({ [`q${answered}`]: textForm(`${answered}`) });
      }
      updates += 1;
      if (updates % 3 !== 0) return drop();
      answered += 1;
      return { resultType: 'complete' };
    });
    const policy = { task: { failures: 2 } };
    expect(await drive(client, CALL, optionsWith({ policy }))).toMatchObject(text('done'));
  });

  const refuse = () => ({ code: -32_602, message: 'Invalid params' });

  it('and are refused by a server that still asks: its error (GAP-41)', async () => {
    const { client, sent } = await losing(100, false, refuse);
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(failure).toMatchObject({ code: -32_602 });
    expect(failure).not.toBeInstanceOf(ParleyError);
    expect(methods(sent)).toEqual(['tools/call', 'get', 'update', 'get']);
  });

  it('and are refused because the task has moved on: what it came to', async () => {
    const { client, sent } = await losing(100, true, refuse);
    expect(await drive(client, CALL, optionsWith())).toMatchObject(text('done'));
    expect(methods(sent)).toEqual(['tools/call', 'get', 'update', 'get']);
  });

  it('a refusal that is settled says nothing of later answers', async () => {
    let at = 0;
    let updates = 0;
    const { client } = await scripted(({ method }) => {
      if (method === 'tools/call') return made();
      if (method === 'tasks/get') return at === 2 ? completed() : asks({ [`q${at}`]: textForm(`${at}`) });
      updates += 1;
      // The first answer comes too late, the second is lost once.
      if (updates === 2) return drop();
      at += 1;
      return updates === 1 ? refuse() : { resultType: 'complete' };
    });
    expect(await drive(client, CALL, optionsWith())).toMatchObject(text('done'));
    expect(updates).toBe(3);
  });

  it('and are refused because the task is gone: that', async () => {
    const { client } = await scripted(({ method }, nth) => {
      if (method === 'tools/call') return made();
      return nth === 2 ? asks({ q: textForm() }) : refuse();
    });
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({ code: 'task_gone' });
  });
});

describe('a question that changes', () => {
  it('under its key, while somebody may be looking at it: it is refused (TASK-18)', async () => {
    const { client } = await looking((nth) => asks({ q: textForm(nth === 1 ? 'Send 1?' : 'Send 1000?') }));
    const handlers = {
      form: () => {
        throw new Error('tomorrow');
      },
    };
    const flow = flowOf(await failureOf(drive(client, CALL, optionsWith({ handlers }))));
    const asked: FormQuestion[] = [];
    const failure = await failureOf(resume(client, flow, optionsWith({ handlers: filling(asked) })));
    expect(failure).toBeInstanceOf(InvalidResponse);
    expect(failure.message).toContain('"q"');
    expect(asked).toEqual([]);
  });
});
