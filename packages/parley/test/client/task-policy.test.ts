import { describe, expect, it } from 'vitest';
import {
  CallStopped,
  drive,
  DriveLimit,
  flowOf,
  resume,
  type AskContext,
  type FormQuestion,
} from '../../src/client/index.js';
import {
  CALL,
  failureOf,
  filling,
  interim,
  optionsWith,
  printed,
  scripted,
  testClock,
  textForm,
} from './harness.js';
import { asks, completed, look, looking, made, methods, text, TASK_ID } from './task-script.js';

describe('a call that is given up while it is a task (TASK-25)', () => {
  const endless = (onLook: (nth: number) => void = () => undefined) =>
    looking((nth) => {
      onLook(nth);
      return look({ pollIntervalMs: 1000 });
    });

  it('by the signal: the task is cancelled, and there is nothing to go on with', async () => {
    const abort = new AbortController();
    const { client, sent } = await endless((nth) => void (nth === 2 && abort.abort()));
    const failure = await failureOf(drive(client, CALL, optionsWith({ signal: abort.signal })));
    expect(failure).toBeInstanceOf(CallStopped);
    expect(failure).toMatchObject({ by: 'signal' });
    expect(flowOf(failure)).toBeUndefined();
    expect(methods(sent)).toEqual(['tools/call', 'get', 'get', 'cancel']);
  });

  it('while somebody is asked: the question is dismissed, the task cancelled', async () => {
    const abort = new AbortController();
    const { client, sent } = await looking(() => asks({ q: textForm() }));
    let isDismissed = false;
    const handlers = {
      form: (_: FormQuestion, { signal }: AskContext) => {
        signal.addEventListener('abort', () => void (isDismissed = true));
        abort.abort();
        return new Promise<never>(() => undefined);
      },
    };
    const failure = await failureOf(drive(client, CALL, optionsWith({ signal: abort.signal, handlers })));
    expect(failure).toBeInstanceOf(CallStopped);
    expect(isDismissed).toBe(true);
    expect(methods(sent)).toEqual(['tools/call', 'get', 'cancel']);
  });

  it('by the deadline, which counts from the first request', async () => {
    const { client, sent } = await endless();
    const clock = testClock();
    const failure = await failureOf(
      drive(client, CALL, optionsWith({ clock, policy: { deadlineMs: 10_000 } })),
    );
    expect(failure).toBeInstanceOf(DriveLimit);
    expect(failure).toMatchObject({ bound: 'deadlineMs', limit: 10_000 });
    expect(flowOf(failure)).toBeUndefined();
    expect(methods(sent).at(-1)).toBe('cancel');
    expect(sent.length).toBeLessThan(14);
  });

  it('by the time that a server may take at a stretch', async () => {
    const { client, sent } = await endless();
    const failure = await failureOf(
      drive(client, CALL, optionsWith({ policy: { task: { maxWaitMs: 3500 } } })),
    );
    expect(failure).toMatchObject({ code: 'drive_limit', bound: 'task.maxWaitMs', limit: 3500 });
    expect(methods(sent)).toEqual(['tools/call', 'get', 'get', 'get', 'get', 'cancel']);
  });

  it('that stretch begins anew with each answer', async () => {
    const clock = testClock();
    let asked = 0;
    const { client } = await looking((nth) => {
      if (nth === 12) return completed();
      if (nth % 3 !== 0) return look();
      asked += 1;
      return asks({ [`q${asked}`]: textForm(`${asked}`) });
    });
    const policy = { task: { maxWaitMs: 9000 } };
    await drive(client, CALL, optionsWith({ clock, policy, handlers: filling() }));
    expect(asked).toBe(3);
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(9000);
  });

  it('and may be left running, for who resumes it', async () => {
    const abort = new AbortController();
    let isOver = false;
    const { client, sent } = await looking((nth) => {
      if (nth === 1) abort.abort();
      return isOver ? completed() : look();
    });
    const policy = { task: { whenStopped: 'leave' } } as const;
    const failure = await failureOf(drive(client, CALL, optionsWith({ signal: abort.signal, policy })));
    expect(failure).toBeInstanceOf(CallStopped);
    expect(methods(sent)).toEqual(['tools/call', 'get']);
    isOver = true;
    expect(await resume(client, flowOf(failure), optionsWith())).toMatchObject(text('done'));
  });

  it('a cancellation that does not get through leaves the flow', async () => {
    const abort = new AbortController();
    const { client } = await scripted(({ method }) => {
      if (method === 'tools/call') return made();
      if (method === 'tasks/cancel') return new Response('', { status: 502 });
      abort.abort();
      return look();
    });
    const failure = await failureOf(drive(client, CALL, optionsWith({ signal: abort.signal })));
    expect(failure).toBeInstanceOf(CallStopped);
    expect(flowOf(failure)?.task).toMatchObject({ id: TASK_ID });
    expect(printed(failure)).not.toContain(TASK_ID);
  });

  it('what is no choice of the policy is refused', async () => {
    const { client, sent } = await endless();
    const policy = { task: { whenStopped: 'ask' as 'leave' } };
    expect(await failureOf(drive(client, CALL, optionsWith({ policy })))).toMatchObject({
      code: 'configuration',
    });
    expect(sent).toHaveLength(0);
  });
});

describe('bounds of the policy hold for what a task asks', () => {
  const asking = (keyOf: (nth: number) => string, messageOf: (nth: number) => string) =>
    looking((nth) => asks({ [keyOf(nth)]: textForm(messageOf(nth)) }));

  it('the same question under new keys (TASK-18) goes nowhere', async () => {
    const { client } = await asking(
      (nth) => `q${nth}`,
      () => 'Name?',
    );
    const asked: FormQuestion[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).toMatchObject({ code: 'going_nowhere', keys: ['q3'], times: 3 });
    expect(asked.map(({ key }) => key)).toEqual(['q1', 'q2']);
    expect(flowOf(failure)?.task?.answered).toEqual(['q1', 'q2']);
  });

  it('new questions without end', async () => {
    const { client } = await asking(
      (nth) => `q${nth}`,
      (nth) => `No. ${nth}`,
    );
    const asked: FormQuestion[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).toMatchObject({ code: 'drive_limit', bound: 'maxRounds' });
    expect(asked).toHaveLength(14);
  });

  it('a task that asks nothing needs no round but the one that made it', async () => {
    const { client } = await looking((nth) => (nth > 50 ? completed() : look()));
    await drive(client, CALL, optionsWith({ clock: testClock(60_000), policy: { maxRounds: 1 } }));
  });

  it('a look before answers leave, which may stop the call and leaves the task', async () => {
    const { client, sent } = await asking(
      () => 'q',
      () => 'Name?',
    );
    const shown: unknown[] = [];
    const policy = {
      beforeRetry: (preview: unknown) => {
        shown.push(preview);
        return 'stop' as const;
      },
    };
    const failure = await failureOf(drive(client, CALL, optionsWith({ policy })));
    expect(failure).toMatchObject({ code: 'call_stopped', by: 'beforeRetry' });
    expect(methods(sent)).toEqual(['tools/call', 'get']);
    expect(shown).toMatchObject([{ round: 2, answers: [['q', { content: { text: 'x' } }]] }]);
    expect(flowOf(failure)?.questions).toMatchObject([{ key: 'q' }]);
  });
});

describe('rounds before a task', () => {
  it('keep their own bound on what is asked', async () => {
    const { client } = await scripted(({ method }, nth) => {
      if (method !== 'tools/call') return completed();
      if (nth > 1) return made();
      return interim({ inputRequests: { q: textForm() }, requestState: 's' });
    });
    expect(await drive(client, CALL, optionsWith({ policy: { maxRounds: 2 } }))).toMatchObject(text('done'));
  });
});
