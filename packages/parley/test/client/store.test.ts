import { ProtocolError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  CallStopped,
  drive,
  flowOf,
  FlowNotSaved,
  resume,
  RetryUnknown,
  SavedFlowOutdated,
  Stepper,
  type FlowStore,
  type SavedFlow,
} from '../../src/client/index.js';
import {
  CALL,
  done,
  failureOf,
  filling,
  interim,
  optionsWith,
  scripted,
  testClock,
  textForm,
  URL_OF_SERVER,
} from './harness.js';
import { FLOW, insteadOfSaving, isLeaving, leaving, memoryStore, type MemoryStore } from './stores.js';
import { asks, completed, looking, text } from './task-script.js';

const oneQuestion = () =>
  scripted((_request, nth) =>
    nth === 1 ? interim({ inputRequests: { q: textForm() }, requestState: 'state-1' }) : done('deployed'),
  );

/** Asks something new in each round. */
const asking = () =>
  scripted((_request, nth) =>
    interim({ inputRequests: { q: textForm(`No. ${nth}`) }, requestState: `state-${nth}` }),
  );

describe('a store', () => {
  it('is written to over what is known to be there, one write after another', async () => {
    const writes: [string, number | null | undefined, number?][] = [];
    const store = memoryStore();
    const { client } = await oneQuestion();
    const spied: FlowStore = {
      load: () => store.load(),
      save(flow, previous) {
        writes.push(['save', previous?.revision ?? null, flow.revision]);
        return store.save(flow, previous);
      },
      clear(previous) {
        writes.push(['clear', previous?.revision]);
        return store.clear(previous);
      },
    };
    await drive(client, CALL, optionsWith({ store: spied }));
    expect(writes).toEqual([
      ['save', null, 1],
      ['save', 1, 2],
      ['save', 2, 3],
      ['clear', 3],
    ]);
  });

  it('holds a call from before its first request leaves', async () => {
    const store = memoryStore();
    let atFirst: SavedFlow | undefined;
    const { client } = await scripted(() => {
      atFirst = store.saved;
      return done();
    });
    await drive(client, CALL, optionsWith({ store }));
    expect(atFirst).toMatchObject({ round: 0, revision: 1, questions: [] });
    expect(atFirst?.sentAt).toBeTypeOf('number');
    expect(store.saved).toBeUndefined();
  });

  it('keeps a call whose first request was under way in a crash: it is not begun again by accident', async () => {
    const store = memoryStore();
    const crash = await scripted(() => new Promise(() => undefined));
    void drive(crash.client, CALL, optionsWith({ store })).catch(() => undefined);
    while (crash.sent.length === 0) await new Promise(setImmediate);

    const { client, sent } = await oneQuestion();
    const options = optionsWith({ store });
    expect(await failureOf(drive(client, CALL, options))).toMatchObject({ code: 'configuration' });
    const failure = await failureOf(resume(client, await store.load(), options));
    expect(failure).toBeInstanceOf(RetryUnknown);
    expect(failure).toMatchObject({ round: 1 });
    expect(sent).toHaveLength(0);
    const resent = await resume(client, await store.load(), { ...options, resend: true });
    expect(resent).toMatchObject(text('deployed'));
    expect(sent[0]?.params).not.toHaveProperty('requestState');
    expect(store.saved).toBeUndefined();
  });

  it.each<[string, () => unknown]>([
    ['fails', () => new Response('', { status: 500 })],
    ['is answered with an error', () => ({ code: -32_602, message: 'Unknown tool' })],
    ['is answered with what cannot be used', () => ({ resultType: 'wibble' })],
  ])('is empty after a first request that %s: the caller knows, and may call again', async (_, first) => {
    const store = memoryStore();
    const { client } = await scripted(first);
    await failureOf(drive(client, CALL, optionsWith({ store })));
    expect(store.saved).toBeUndefined();
  });
});

describe('a store that fails', () => {
  const full = () => Promise.reject(new Error('ENOSPC'));
  const refused = () => Promise.reject(new Error('EACCES'));

  it('when the call is over: the result is not lost', async () => {
    const { client } = await oneQuestion();
    const store = memoryStore(undefined, () => ({ clear: refused }));
    expect(await drive(client, CALL, optionsWith({ store }))).toMatchObject(text('deployed'));
  });

  it('when the call is over, with an error: that error is not lost', async () => {
    const { client } = await scripted((_request, nth) =>
      nth === 1
        ? interim({ inputRequests: { q: textForm() }, requestState: 's' })
        : { code: 7003, message: 'busy' },
    );
    const store = memoryStore(undefined, () => ({ clear: refused }));
    const failure = await failureOf(drive(client, CALL, optionsWith({ store })));
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(failure).toMatchObject({ code: 7003 });
  });

  it('when a task is over: neither is lost', async () => {
    const { client } = await looking(completed);
    const store = memoryStore(undefined, () => ({ clear: refused }));
    expect(await drive(client, CALL, optionsWith({ store }))).toMatchObject(text('done'));
  });

  it('before the first request: nothing is sent', async () => {
    const { client, sent } = await oneQuestion();
    const failure = await failureOf(
      drive(client, CALL, optionsWith({ store: memoryStore(undefined, () => ({ save: full })) })),
    );
    expect(failure).toBeInstanceOf(FlowNotSaved);
    expect(failure).toMatchObject({ round: 0, cause: { message: 'ENOSPC' } });
    expect(flowOf(failure)).toBeUndefined();
    expect(sent).toHaveLength(0);
  });

  it('before a retry: it does not leave, and the flow is as it was', async () => {
    const { client, sent } = await oneQuestion();
    const store = memoryStore(undefined, insteadOfSaving(isLeaving, full));
    const failure = await failureOf(drive(client, CALL, optionsWith({ store })));
    expect(failure).toBeInstanceOf(FlowNotSaved);
    expect(failure).toMatchObject({ round: 1, cause: { message: 'ENOSPC' } });
    expect(flowOf(failure)).toEqual(store.saved);
    expect(store.saved).not.toHaveProperty('sentAt');
    expect(sent).toHaveLength(1);
  });

  it('after a round was answered: the error carries that round, and it can be gone on with', async () => {
    const { client, sent } = await scripted((_request, nth) =>
      nth > 2
        ? done('deployed')
        : interim({ inputRequests: { q: textForm(`${nth}`) }, requestState: `state-${nth}` }),
    );
    let isFull = true;
    const store = memoryStore(
      undefined,
      insteadOfSaving((flow) => isFull && flow.round === 2, full),
    );
    const failure = await failureOf(drive(client, CALL, optionsWith({ store })));
    expect(failure).toBeInstanceOf(FlowNotSaved);
    const flow = flowOf(failure);
    expect(flow).toMatchObject({ round: 2, requestState: 'state-2' });
    expect(flow).not.toHaveProperty('sentAt');
    expect(store.saved).toMatchObject({ round: 1, requestState: 'state-1' });
    isFull = false;
    expect(await resume(client, flow, optionsWith({ store }))).toMatchObject(text('deployed'));
    expect(sent[2]?.params.requestState).toBe('state-2');
  });

  it('after a task showed something new: the error carries the task', async () => {
    const { client } = await looking((nth) => (nth === 1 ? asks({ q: textForm() }) : completed()));
    let isFull = true;
    const store = memoryStore(
      undefined,
      insteadOfSaving((flow) => isFull && flow.questions.length > 0, full),
    );
    const failure = await failureOf(drive(client, CALL, optionsWith({ store })));
    expect(failure).toBeInstanceOf(FlowNotSaved);
    isFull = false;
    expect(await resume(client, flowOf(failure), optionsWith({ store }))).toMatchObject(text('done'));
  });
});

describe('a store that gives no answer', () => {
  const hang = (clock: ReturnType<typeof testClock>) => (): Promise<never> => {
    clock.advance(60_000);
    return new Promise(() => undefined);
  };

  it.each<[string, (hang: () => Promise<never>) => Parameters<typeof memoryStore>[1], number]>([
    ['load', (hang) => () => ({ load: hang }), 0],
    ['save, before the first request', (hang) => () => ({ save: hang }), 0],
    ['save, after a round', (hang) => insteadOfSaving(({ round }) => round === 1, hang), 1],
    ['save, before a retry', (hang) => insteadOfSaving(isLeaving, hang), 1],
  ])('%s: the deadline ends the call', async (_, failing, count) => {
    const clock = testClock();
    const store = memoryStore(undefined, failing(hang(clock)));
    const { client, sent } = await oneQuestion();
    const policy = { deadlineMs: 60_000 };
    const failure = await failureOf(drive(client, CALL, optionsWith({ store, clock, policy })));
    expect(failure).toMatchObject({ code: 'drive_limit', bound: 'deadlineMs' });
    expect(flowOf(failure)?.round).toBe(count === 0 ? undefined : 1);
    expect(sent).toHaveLength(count);
  });

  it('and a signal ends it too', async () => {
    const abort = new AbortController();
    const store = memoryStore(undefined, () => ({
      load() {
        abort.abort();
        return new Promise(() => undefined);
      },
    }));
    const { client, sent } = await oneQuestion();
    const failure = await failureOf(drive(client, CALL, optionsWith({ store, signal: abort.signal })));
    expect(failure).toBeInstanceOf(CallStopped);
    expect(sent).toHaveLength(0);
  });

  it('clear: the result does not wait for it', async () => {
    const clock = testClock();
    const { client } = await oneQuestion();
    const store = memoryStore(undefined, () => ({ clear: hang(clock) }));
    expect(await drive(client, CALL, optionsWith({ store, clock }))).toMatchObject(text('deployed'));
  });
});

describe('several who use one store', () => {
  it('two calls that begin at once: one is refused, and has sent nothing', async () => {
    const store = memoryStore();
    const { client, sent } = await oneQuestion();
    const begin = (name: string) =>
      failureOf(
        drive(client, { method: 'tools/call', params: { name } }, optionsWith({ store, handlers: leaving })),
      );
    const failures = await Promise.all([begin('a'), begin('b')]);
    expect(failures.map(({ code }) => code)).toEqual(['unanswered', 'configuration']);
    expect(sent).toHaveLength(1);
    expect(store.saved).toMatchObject({ request: { params: { name: 'a' } } });
  });

  it('two who answer the same call at once: one retry leaves', async () => {
    const store = memoryStore(FLOW);
    const { client, sent } = await scripted(() => done('deployed'));
    let open: () => void = () => undefined;
    const both = new Promise<void>((resolve) => void (open = resolve));
    let waiting = 0;
    const handlers = {
      form: async () => {
        if ((waiting += 1) === 2) open();
        await both;
        return { action: 'accept', content: { text: 'x' } } as const;
      },
    };
    const outcomes = await Promise.allSettled(
      [1, 2].map(() => resume(client, FLOW, optionsWith({ store, handlers }))),
    );
    const [won, lost] = outcomes.toSorted((a, b) => a.status.localeCompare(b.status));
    expect(won).toMatchObject({ value: text('deployed') });
    expect(lost).toMatchObject({ reason: { code: 'saved_flow_outdated' } });
    expect(sent).toHaveLength(1);
  });

  it('somebody answers while another one still thinks, and the call ends: its retry leaves once', async () => {
    const store = memoryStore(FLOW);
    const { client, sent } = await scripted(() => done('deployed'));
    const handlers = {
      form: async () => {
        await resume(client, await store.load(), optionsWith({ store }));
        return { action: 'accept', content: { text: 'x' } } as const;
      },
    };
    const failure = await failureOf(resume(client, FLOW, optionsWith({ store, handlers })));
    expect(failure).toBeInstanceOf(SavedFlowOutdated);
    expect(failure).toMatchObject({ found: 'nothing' });
    expect(sent).toHaveLength(1);
  });

  it.each<[string, SavedFlow | undefined, string]>([
    ['another call', { ...FLOW, id: 'other' }, 'another call'],
    ['a later revision of the call', { ...FLOW, revision: 9, requestState: 'state-2' }, 'another revision'],
    ['nothing: it has ended', undefined, 'nothing'],
  ])('who resumes a copy while the store holds %s asks nobody and sends nothing', async (_, saved, found) => {
    const store = memoryStore(saved);
    const { client, sent } = await oneQuestion();
    const asked: never[] = [];
    const failure = await failureOf(resume(client, FLOW, optionsWith({ store, handlers: filling(asked) })));
    expect(failure).toBeInstanceOf(SavedFlowOutdated);
    expect(failure).toMatchObject({ code: 'saved_flow_outdated', found });
    expect([sent.length, asked.length]).toEqual([0, 0]);
    expect(store.saved).toBe(saved);
  });

  it('somebody sends again what was not answered, while the answer is on its way: neither copy is lost', async () => {
    const store = memoryStore(FLOW);
    const slow = await scripted(async () => {
      const other = await oneQuestion();
      // Round 1 of the other server is round 2 here.
      const options = optionsWith({ store, handlers: leaving });
      const resent = { ...options, handlers: filling(), resend: true };
      expect(await failureOf(resume(other.client, await store.load(), options))).toBeInstanceOf(RetryUnknown);
      await failureOf(resume(other.client, await store.load(), { ...resent, policy: { maxRounds: 2 } }));
      return interim({ inputRequests: { q: textForm() }, requestState: 'state-of-the-slow' });
    });
    const failure = await failureOf(resume(slow.client, FLOW, optionsWith({ store })));
    expect(failure).toBeInstanceOf(FlowNotSaved);
    expect(failure.cause).toBeInstanceOf(SavedFlowOutdated);
    expect(flowOf(failure)?.requestState).toBe('state-of-the-slow');
    expect(store.saved?.requestState).toBe('state-1');
  });

  it('a store that does not look at what it writes over still sees most of it: the call is gone', async () => {
    const careless: MemoryStore = memoryStore(FLOW, () => ({
      save: async (flow) => void (careless.saved = flow),
    }));
    const { client, sent } = await scripted(() => done());
    await resume(client, FLOW, optionsWith({ store: careless }));
    expect(await failureOf(resume(client, FLOW, optionsWith({ store: careless })))).toBeInstanceOf(
      SavedFlowOutdated,
    );
    expect(sent).toHaveLength(1);
  });
});

describe('a stepper, with storage of the host', () => {
  it('gives all that a conditional write needs, before each request leaves', async () => {
    const { client } = await asking();
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'] });
    const sent: [number, number | undefined][] = [];
    const beforeSend = (flow: SavedFlow): void => void sent.push([flow.revision, flow.round]);
    const first = await stepper.begin(CALL, { beforeSend });
    if (first.type !== 'pending') throw new Error('no question');
    const second = await stepper.next(
      first.flow,
      { q: { action: 'accept', content: { text: 'x' } } },
      { beforeSend },
    );
    if (second.type !== 'pending') throw new Error('no question');
    expect(sent).toEqual([
      [1, 0],
      [3, 1],
    ]);
    expect([first.flow.revision, second.flow.revision]).toEqual([2, 4]);
    expect(second.flow.id).toBe(first.flow.id);
  });

  it('sends nothing when that fails', async () => {
    const { client, sent } = await asking();
    const stepper = new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: ['form'] });
    const beforeSend = () => Promise.reject(new Error('no rows'));
    expect(await failureOf(stepper.begin(CALL, { beforeSend }))).toMatchObject({ message: 'no rows' });
    expect(sent).toHaveLength(0);
  });
});
