import { describe, expect, it } from 'vitest';
import { CallStopped, drive, flowOf, resume, RetryUnknown, Stepper } from '../../src/client/index.js';
import {
  CALL,
  failureOf,
  interim,
  optionsWith,
  scripted,
  testClock,
  textForm,
  URL_OF_SERVER,
} from './harness.js';
import { connect2025 } from './legacy-harness.js';
import { isLeaving, leaving, memoryStore } from './stores.js';

/** Asks something new in each round, with a state of its own. */
const asking = (of = 'state') =>
  scripted((_request, nth) =>
    interim({ inputRequests: { q: textForm(`No. ${nth}`) }, requestState: `${of}-${nth}` }),
  );

const never = (): Promise<never> => new Promise(() => undefined);

describe('the flow that goes with an error', () => {
  it('is that of the round in which the deadline came, in a call that was begun here', async () => {
    const clock = testClock();
    const { client } = await asking();
    const form = () => {
      clock.advance(60_000);
      return never();
    };
    const policy = { deadlineMs: 60_000 };
    const failure = await failureOf(drive(client, CALL, optionsWith({ clock, handlers: { form }, policy })));
    expect(failure).toMatchObject({ bound: 'deadlineMs' });
    expect(flowOf(failure)).toMatchObject({ round: 1, requestState: 'state-1' });
  });

  it('and in a later round of one that was resumed', async () => {
    const clock = testClock();
    const { client, sent } = await asking();
    const first = flowOf(await failureOf(drive(client, CALL, optionsWith({ clock, handlers: leaving }))));
    expect(first).toMatchObject({ round: 1, requestState: 'state-1' });
    let asked = 0;
    const form = () => {
      if ((asked += 1) === 1) return { action: 'accept', content: { text: 'x' } } as const;
      clock.advance(60_000);
      return never();
    };
    const policy = { deadlineMs: 60_000 };
    const failure = await failureOf(
      resume(client, first, optionsWith({ clock, handlers: { form }, policy })),
    );
    expect(failure).toMatchObject({ bound: 'deadlineMs' });
    expect(sent).toHaveLength(2);
    expect(flowOf(failure)).toMatchObject({ round: 2, requestState: 'state-2' });
  });

  it('is never that of another call, for whose error this one was cancelled', async () => {
    const both = new AbortController();
    const a = await scripted((_request, nth) =>
      nth === 1
        ? interim({ inputRequests: { q: textForm() }, requestState: 'state-of-a' })
        : new Response('', { status: 500 }),
    );
    const b = await asking('state-of-b');
    let onAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => void (onAsked = resolve));
    const form = (): Promise<never> => {
      onAsked();
      return never();
    };
    const callB = failureOf(drive(b.client, CALL, optionsWith({ signal: both.signal, handlers: { form } })));
    await asked;
    const failureA = await failureOf(drive(a.client, CALL, optionsWith()));
    expect(failureA).toBeInstanceOf(RetryUnknown);
    both.abort(failureA);
    const failureB = await callB;
    expect(failureB).toBeInstanceOf(CallStopped);
    expect(flowOf(failureB)?.requestState).toBe('state-of-b-1');
  });

  it.each(['before anything is sent', 'on a connection of 2025-11-25', 'in a stepper'])(
    'nor is the error of another call that of one that is cancelled for it %s',
    async (where) => {
      const a = await asking();
      const failureA = await failureOf(drive(a.client, CALL, optionsWith({ handlers: leaving })));
      const signal = AbortSignal.abort(failureA);
      const { client } =
        where === 'on a connection of 2025-11-25'
          ? await connect2025((mcp) => void mcp.registerTool('t', {}, () => ({ content: [] })))
          : a;
      const call =
        where === 'in a stepper'
          ? new Stepper(client, { server: { url: URL_OF_SERVER }, kinds: [] }).begin(CALL, { signal })
          : drive(client, CALL, optionsWith({ signal }));
      const failure = await failureOf(call);
      expect(failure).toBeInstanceOf(CallStopped);
      expect(flowOf(failure)).toBeUndefined();
    },
  );

  it('says what the store says, when the deadline comes while a retry is being saved', async () => {
    const clock = testClock();
    const { client, sent } = await asking();
    const store = memoryStore(undefined, (plain) => ({
      async save(flow, previous) {
        await plain.save(flow, previous);
        if (isLeaving(flow)) clock.advance(60_000);
        await new Promise(setImmediate);
      },
    }));
    const policy = { deadlineMs: 60_000 };
    const failure = await failureOf(drive(client, CALL, optionsWith({ clock, store, policy })));
    expect(failure).toMatchObject({ bound: 'deadlineMs' });
    expect(sent).toHaveLength(1);
    expect(store.saved).toEqual(flowOf(failure));
    expect(store.saved).not.toHaveProperty('sentAt');
  });

  it('is none of an error that is not of this library', () => {
    expect(flowOf(new Error('x'))).toBeUndefined();
    expect(flowOf({ flow: {} })).toBeUndefined();
    expect(flowOf(undefined)).toBeUndefined();
  });
});
