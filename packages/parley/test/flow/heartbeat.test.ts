import { describe, expect, it } from 'vitest';
import { runRound, turns } from './host.js';

describe('heartbeat', () => {
  it('resolves and does nothing in a request', async () => {
    const outcome = await runRound((flow) =>
      flow.step('s', async ({ heartbeat }) => {
        await heartbeat();
        await heartbeat('half done');
        return 'done';
      }),
    );
    expect(outcome).toMatchObject({ type: 'completed', value: 'done' });
  });

  it('tells the host, and waits for it', async () => {
    const told: unknown[] = [];
    let release: (() => void) | undefined;
    let beaten = false;
    const running = runRound(
      (flow) =>
        flow.step('s', async (context) => {
          await context.heartbeat('half done');
          beaten = true;
          await context.heartbeat();
        }),
      {
        heartbeat: (message) => {
          told.push(message);
          return told.length > 1 ? Promise.resolve() : new Promise((resolve) => (release = resolve));
        },
      },
    );
    await turns(3);
    expect([told, beaten]).toEqual([['half done'], false]);
    release?.();
    expect((await running).type).toBe('completed');
    expect(told).toEqual(['half done', undefined]);
  });

  it('rejects as the host does, so that the work can stop', async () => {
    const outcome = await runRound((flow) => flow.step('s', ({ heartbeat }) => heartbeat()), {
      heartbeat: () => Promise.reject(new Error('cancelled')),
    });
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'step_failed', reason: 'cancelled' } });
  });

  it('asks the host also when the run is over: work that goes on is told to stop', async () => {
    let over = false;
    let stopped: unknown;
    await runRound(
      async (flow) => {
        void flow.step('slow', async ({ heartbeat }) => {
          await turns(5);
          await heartbeat().catch((error: unknown) => (stopped = error));
        });
        await flow.step('quick', () => undefined);
      },
      { heartbeat: () => (over ? Promise.reject(new Error('over')) : Promise.resolve()) },
    );
    over = true;
    await turns(8);
    expect(stopped).toMatchObject({ message: 'over' });
  });

  it('is there for the checks of a wait', async () => {
    const told: unknown[] = [];
    await runRound((flow) => flow.waitFor('w', ({ heartbeat }) => heartbeat('looked').then(() => true)), {
      heartbeat: async (message) => void told.push(message),
    });
    expect(told).toEqual(['looked']);
  });

  it.each([
    ['a number', 5],
    ['null', null],
    ['too long a text', 'x'.repeat(1_001)],
  ])('refuses %s for a message, in a request too', async (_, message) => {
    let told = 0;
    for (const heartbeat of [undefined, async () => void (told += 1)]) {
      const outcome = await runRound(
        (flow) => flow.step('s', (context) => context.heartbeat(message as string)),
        heartbeat && { heartbeat },
      );
      expect(outcome).toMatchObject({ type: 'failed', error: { reasonName: 'RangeError' } });
    }
    expect(told).toBe(0);
  });
});
