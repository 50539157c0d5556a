import { describe, expect, it, vi } from 'vitest';
import {
  CallStopped,
  DriveLimit,
  drive,
  flowOf,
  GoingNowhere,
  resume,
  RetryUnknown,
  type Clock,
  type DrivePolicy,
  type RetryPreview,
  type SavedFlow,
} from '../../src/client/index.js';
import {
  CALL,
  done,
  failureOf,
  filling,
  interim,
  optionsWith,
  printed,
  scripted,
  TASKS,
  testClock,
  textForm,
  URL_OF_SERVER,
} from './harness.js';
import { FLOW } from './stores.js';

/** A server that asks something new in each of `rounds` rounds, and then is done. */
const asking = (rounds: number) =>
  scripted((_request, nth) =>
    nth > rounds
      ? done()
      : interim({ inputRequests: { q: textForm(`No. ${nth}`) }, requestState: `s${nth}` }),
  );

const withPolicy = (policy: DrivePolicy) => optionsWith({ policy });

describe('maxRounds', () => {
  it('16 by default: a result in the last round counts', async () => {
    const { client, sent } = await asking(15);
    expect((await drive(client, CALL, optionsWith())).content).toHaveLength(1);
    expect(sent).toHaveLength(16);
  });

  it('a question in the last round is one too many, and nobody is asked it', async () => {
    const { client, sent } = await asking(16);
    const asked: never[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).toBeInstanceOf(DriveLimit);
    expect(failure).toMatchObject({ code: 'drive_limit', bound: 'maxRounds', limit: 16 });
    expect(flowOf(failure)?.round).toBe(16);
    expect(sent).toHaveLength(16);
    expect(asked).toHaveLength(15);
  });

  it('of one allows calls that ask nothing', async () => {
    expect((await drive((await asking(0)).client, CALL, withPolicy({ maxRounds: 1 }))).content).toHaveLength(
      1,
    );
    const failure = await failureOf(drive((await asking(1)).client, CALL, withPolicy({ maxRounds: 1 })));
    expect(failure).toMatchObject({ bound: 'maxRounds', limit: 1 });
  });
});

describe('deadlineMs', () => {
  it('ends a call while somebody is being asked, and tells the handler', async () => {
    const { client, sent } = await asking(1);
    const clock = testClock();
    let signal: AbortSignal | undefined;
    const form = (_: unknown, context: { signal: AbortSignal }): Promise<never> => {
      signal = context.signal;
      setImmediate(() => clock.advance(60_000));
      return new Promise(() => undefined);
    };
    const failure = await failureOf(
      drive(client, CALL, optionsWith({ handlers: { form }, policy: { deadlineMs: 60_000 }, clock })),
    );
    expect(failure).toMatchObject({ code: 'drive_limit', bound: 'deadlineMs', limit: 60_000 });
    expect(flowOf(failure)?.questions).toMatchObject([{ key: 'q' }]);
    expect(signal?.aborted).toBe(true);
    expect(sent).toHaveLength(1);
  });

  it('while a retry is under way, its outcome is unknown, and the request is cancelled', async () => {
    const clock = testClock();
    let cancelled = false;
    const { client } = await scripted((_request, nth, signal) => {
      if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 'state-of-one' });
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          cancelled = true;
          reject(new Error('aborted'));
        });
        clock.advance(60_000);
      });
    });
    const failure = await failureOf(
      drive(client, CALL, optionsWith({ policy: { deadlineMs: 60_000 }, clock })),
    );
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(failure.cause).toMatchObject({ bound: 'deadlineMs' });
    expect(cancelled).toBe(true);
  });

  it('counts from when the call began, also where it is resumed', async () => {
    const { client, sent } = await asking(1);
    const clock = testClock();
    const policy = { deadlineMs: 60_000 };
    const form = () => Promise.reject(new Error('later'));
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: { form }, policy, clock })));
    clock.advance(60_000);
    expect(failure).toMatchObject({ code: 'unanswered', key: 'q' });
    const late = await failureOf(resume(client, flowOf(failure), optionsWith({ policy, clock })));
    expect(late).toMatchObject({ bound: 'deadlineMs' });
    expect(sent).toHaveLength(1);
  });

  it('gives no more time to a call of a machine whose clock is ahead', async () => {
    const clock = testClock();
    const { client } = await asking(0);
    const ahead = { ...FLOW, beganAt: clock.now() + 365 * 86_400_000 };
    const form = (): Promise<never> => {
      clock.advance(60_000);
      return new Promise(() => undefined);
    };
    const options = optionsWith({ clock, handlers: { form }, policy: { deadlineMs: 60_000 } });
    expect(await failureOf(resume(client, ahead, options))).toMatchObject({ bound: 'deadlineMs' });
  });
});

describe('request.timeout', () => {
  it('of a first request is a limit like others, with the error of the client as its cause', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { client } = await scripted(() => {
        setImmediate(() => vi.advanceTimersByTime(1500));
        return new Promise(() => undefined);
      });
      const failure = await failureOf(drive(client, CALL, optionsWith({ request: { timeout: 1500 } })));
      expect(failure).toBeInstanceOf(DriveLimit);
      expect(failure).toMatchObject({ bound: 'timeout', limit: 1500, cause: { code: 'REQUEST_TIMEOUT' } });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('rounds that only want to be called again', () => {
  const waiting = (waits: number) =>
    scripted((_request, nth) => (nth > waits ? done() : interim({ requestState: `w${nth}` })));

  it('are paced: 250 ms, doubling to 5 s', async () => {
    const { client } = await waiting(7);
    const clock = testClock();
    await drive(client, CALL, optionsWith({ clock, handlers: {} }));
    expect(clock.slept).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
  });

  it('have a budget of their own, and end one that goes on for ever', async () => {
    const { client, sent } = await waiting(Infinity);
    const failure = await failureOf(drive(client, CALL, withPolicy({ stateOnly: { rounds: 20 } })));
    expect(failure).toMatchObject({ bound: 'stateOnly.rounds', limit: 20 });
    expect(sent).toHaveLength(21);
  });

  it('do not count among maxRounds, and start their pace again after a question', async () => {
    const { client } = await scripted((_request, nth) => {
      if (nth === 6) return done();
      return nth === 3
        ? interim({ inputRequests: { q: textForm() } })
        : interim({ requestState: `w${nth}`, inputRequests: {} });
    });
    const clock = testClock();
    await drive(client, CALL, optionsWith({ clock, policy: { maxRounds: 2 } }));
    expect(clock.slept).toEqual([250, 500, 250, 500]);
  });

  it('a pause is over as soon as the call is cancelled, and nothing is sent after it', async () => {
    const { client, sent } = await waiting(5);
    const controller = new AbortController();
    const clock: Clock = {
      now: () => 0,
      sleep: (_ms, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
          controller.abort();
        }),
    };
    const failure = await failureOf(drive(client, CALL, optionsWith({ clock, signal: controller.signal })));
    expect(failure).toBeInstanceOf(CallStopped);
    expect(failure).toMatchObject({ by: 'signal' });
    expect(sent).toHaveLength(1);
  });
});

describe('the loop detector', () => {
  it('gives up when the same is asked the third time, whatever the state', async () => {
    const { client, sent } = await scripted((_request, nth) =>
      interim({ inputRequests: { b: textForm(), a: textForm() }, requestState: `s${nth}` }),
    );
    const asked: never[] = [];
    const failure = await failureOf(drive(client, CALL, optionsWith({ handlers: filling(asked) })));
    expect(failure).toBeInstanceOf(GoingNowhere);
    expect(failure).toMatchObject({ code: 'going_nowhere', keys: ['b', 'a'], times: 3 });
    expect(sent).toHaveLength(3);
    expect(asked).toHaveLength(4);
  });

  it('is not misled by the order of questions, nor by rounds that only wait', async () => {
    const { client, sent } = await scripted((_request, nth) => {
      const [a, b] = [textForm('a'), textForm('b')];
      if (nth % 2 === 0) return interim({ requestState: `w${nth}` });
      return interim({ inputRequests: nth === 1 ? { a, b } : { b, a }, requestState: `s${nth}` });
    });
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({ code: 'going_nowhere' });
    expect(sent).toHaveLength(5);
  });

  it('lets a question pass that is asked again with a reason', async () => {
    const { client } = await scripted((_request, nth) =>
      nth > 4 ? done() : interim({ inputRequests: { q: textForm(nth % 2 === 0 ? 'Too short.' : 'Name?') } }),
    );
    expect((await drive(client, CALL, optionsWith())).content).toHaveLength(1);
  });

  it('keys that change in each round run into maxRounds', async () => {
    const { client, sent } = await scripted((_request, nth) =>
      interim({ inputRequests: { [`k${nth}`]: textForm() } }),
    );
    expect(await failureOf(drive(client, CALL, optionsWith()))).toMatchObject({ bound: 'maxRounds' });
    expect(sent).toHaveLength(16);
  });

  it('counts on in a flow that was saved', async () => {
    const { client, sent } = await scripted((_request, nth) =>
      interim({ inputRequests: { q: textForm() }, requestState: `s${nth}` }),
    );
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    const again = await failureOf(resume(client, flowOf(failure), optionsWith()));
    expect(again).toMatchObject({ code: 'going_nowhere', times: 3 });
    expect(sent).toHaveLength(3);
    const patient = await failureOf(resume(client, flowOf(failure), optionsWith({ policy: { repeats: 5 } })));
    expect(patient).toMatchObject({ code: 'going_nowhere', times: 5 });
  });
});

describe('what may be asked, and whom', () => {
  it('at most so many questions a round', async () => {
    const ask = (count: number) =>
      scripted((_request, nth) => {
        if (nth > 1) return done();
        const keys = Array.from({ length: count }, (_, index) => [`k${index}`, textForm(`${index}`)]);
        return interim({ inputRequests: Object.fromEntries(keys) as object });
      });
    expect((await drive((await ask(16)).client, CALL, optionsWith())).content).toHaveLength(1);
    const asked: never[] = [];
    const options = optionsWith({ handlers: filling(asked) });
    const failure = await failureOf(drive((await ask(17)).client, CALL, options));
    expect(failure).toMatchObject({ bound: 'maxQuestions', limit: 16 });
    expect(asked).toHaveLength(0);
    expect(await failureOf(drive((await ask(65)).client, CALL, options))).toMatchObject({
      code: 'invalid_response',
    });
  });

  it('kinds that the policy leaves out are not declared, and fail the call', async () => {
    const { client, sent } = await asking(1);
    const failure = await failureOf(drive(client, CALL, withPolicy({ kinds: ['url'] })));
    expect(failure).toMatchObject({ code: 'invalid_response' });
    expect(failure.message).toContain('elicitation.form');
    expect(sent[0]?.params._meta?.['io.modelcontextprotocol/clientCapabilities']).toEqual({
      extensions: TASKS,
    });
  });

  it('servers that it does not list are not called', async () => {
    const { client, sent } = await asking(0);
    const others = { servers: [{ url: 'https://example.com/mcp' }, { command: 'node' }] };
    expect(await failureOf(drive(client, CALL, withPolicy(others)))).toMatchObject({
      code: 'server_not_allowed',
    });
    expect(sent).toHaveLength(0);
    const mine = { servers: [{ url: `${URL_OF_SERVER}#x`, principal: 'ann' }] };
    await drive(client, CALL, withPolicy(mine));
    expect(sent).toHaveLength(1);
  });

  it('bounds are positive whole numbers', async () => {
    const { client } = await asking(0);
    for (const policy of [{ maxRounds: 0 }, { deadlineMs: -1 }, { repeats: 1.5 }, { maxQuestions: NaN }]) {
      expect(await failureOf(drive(client, CALL, withPolicy(policy)))).toMatchObject({
        code: 'configuration',
      });
    }
  });
});

describe('beforeRetry', () => {
  it('sees what will be sent but the state, and can change none of it', async () => {
    const { client, sent } = await asking(1);
    const seen: RetryPreview[] = [];
    const beforeRetry = (preview: RetryPreview) => {
      seen.push(preview);
      expect(() => {
        (preview.answers[0]![1] as unknown as { content: { text: string } }).content.text = 'y';
      }).toThrow(TypeError);
      expect(() => {
        (preview.request.params as { name: string }).name = 'other';
      }).toThrow(TypeError);
    };
    await drive(client, CALL, withPolicy({ beforeRetry }));
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      round: 1,
      request: CALL,
      answers: [['q', { action: 'accept', content: { text: 'x' } }]],
    });
    expect(printed(seen[0])).not.toContain('s1');
    expect(sent[1]?.params.inputResponses).toEqual({ q: { action: 'accept', content: { text: 'x' } } });
  });

  it.each([
    ['says stop', () => 'stop' as const],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
  ])('stops the call when it %s, also before a round that only waits', async (_, beforeRetry) => {
    for (const members of [{ inputRequests: { q: textForm() } }, { requestState: 's' }]) {
      const { client, sent } = await scripted(() => interim(members));
      const failure = await failureOf(drive(client, CALL, withPolicy({ beforeRetry })));
      expect(failure).toMatchObject({ code: 'call_stopped', by: 'beforeRetry' });
      expect(flowOf(failure)?.round).toBe(1);
      expect(sent).toHaveLength(1);
    }
  });
});

describe('cancelling', () => {
  it('before anything is sent', async () => {
    const { client, sent } = await asking(1);
    const failure = await failureOf(drive(client, CALL, optionsWith({ signal: AbortSignal.abort() })));
    expect(failure).toMatchObject({ code: 'call_stopped', by: 'signal' });
    expect(sent).toHaveLength(0);
  });

  it('between rounds there is nothing to tell the server (GAP-29)', async () => {
    const { client, sent } = await asking(2);
    const controller = new AbortController();
    const form = (): Promise<never> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const failure = await failureOf(
      drive(client, CALL, optionsWith({ handlers: { form }, signal: controller.signal })),
    );
    expect(failure).toMatchObject({ code: 'call_stopped', by: 'signal' });
    expect(sent).toHaveLength(1);
  });

  it.each([1, 2])('cancels request %i while it is under way', async (under) => {
    const controller = new AbortController();
    let cancelled = 0;
    const { client, sent } = await scripted((_request, nth, signal) => {
      if (nth < under) return interim({ inputRequests: { q: textForm() }, requestState: 'state-of-one' });
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          cancelled += 1;
          reject(new Error('aborted'));
        });
        controller.abort(new Error('enough'));
      });
    });
    const failure = await failureOf(drive(client, CALL, optionsWith({ signal: controller.signal })));
    expect(cancelled).toBe(1);
    expect(failure).toBeInstanceOf(under === 1 ? CallStopped : RetryUnknown);
    expect(failure.cause).toMatchObject({ message: 'enough' });
    expect(sent).toHaveLength(under);
    if (under === 2) {
      const flow = flowOf(failure) as SavedFlow;
      expect(flow).toMatchObject({ round: 1, requestState: 'state-of-one' });
      expect(flow.sentAt).toBeTypeOf('number');
    }
  });
});
