import { describe, expect, it } from 'vitest';
import { runtimeScheduler } from '../../src/flow/scheduler.js';

/** A chain of reactions of this length; each link is queued by the one before. */
async function chain(length: number, done: () => void): Promise<void> {
  for (let index = 0; index < length; index += 1) await undefined;
  done();
}

function happened(order: (note: (what: string) => void) => void): Promise<string[]> {
  return new Promise((resolve) => {
    const notes: string[] = [];
    order((what) => notes.push(what));
    setImmediate(() => setImmediate(() => setImmediate(() => resolve(notes))));
  });
}

describe('runtimeScheduler.afterReactions', () => {
  it('calls back when all reactions have run, those too that they queue', async () => {
    const notes = await happened((note) => {
      runtimeScheduler.afterReactions(() => note('callback'));
      void chain(1_000, () => note('long'));
      void chain(1, () => note('short'));
      queueMicrotask(() => queueMicrotask(() => note('microtask')));
    });
    expect(notes).toEqual(
      ['short', 'microtask', 'long', 'callback'].toSorted(
        (a, b) => Number(a === 'callback') - Number(b === 'callback'),
      ),
    );
  });

  it.each(['a reaction', 'a tick', 'an immediate', 'its own callback'])(
    'does so when it is called from %s',
    async (from) => {
      const notes = await happened((note) => {
        const begin = (): void => {
          runtimeScheduler.afterReactions(() => note('callback'));
          void chain(100, () => note('reactions'));
        };
        if (from === 'a reaction') queueMicrotask(begin);
        else if (from === 'a tick') process.nextTick(begin);
        else if (from === 'an immediate') setImmediate(begin);
        else runtimeScheduler.afterReactions(begin);
      });
      expect(notes).toEqual(['reactions', 'callback']);
    },
  );

  it('calls back before the event loop turns', async () => {
    const notes = await happened((note) => {
      setImmediate(() => note('turn'));
      runtimeScheduler.afterReactions(() => runtimeScheduler.afterReactions(() => note('callback')));
    });
    expect(notes).toEqual(['callback', 'turn']);
  });

  it('calls back in order', async () => {
    const notes = await happened((note) => {
      runtimeScheduler.afterReactions(() => note('first'));
      runtimeScheduler.afterReactions(() => note('second'));
    });
    expect(notes).toEqual(['first', 'second']);
  });
});

describe('runtimeScheduler', () => {
  it('afterTurn lets finished I/O reach its waiters first', async () => {
    const notes = await happened((note) => {
      setImmediate(() => void chain(10, () => note('I/O')));
      runtimeScheduler.afterTurn(() => note('turn'));
    });
    expect(notes).toEqual(['I/O', 'turn']);
  });

  it('after can be cancelled', async () => {
    const called = await new Promise<string>((resolve) => {
      const cancel = runtimeScheduler.after(0, () => resolve('cancelled one'));
      cancel();
      runtimeScheduler.after(1, () => resolve('other one'));
    });
    expect(called).toBe('other one');
  });
});
