import { describe, expect, it } from 'vitest';
import { LazyAbort } from '../../src/flow/abort.js';
import { WorkContext } from '../../src/flow/work-context.js';

describe('WorkContext', () => {
  it('gives the signal of the run, made only when it is asked for', () => {
    const abort = new LazyAbort();
    const context = new WorkContext(abort, undefined);
    abort.abort();
    expect(context.signal.aborted).toBe(true);
    expect(context.signal).toBe(abort.signal);
  });

  it('has a heartbeat that works without its object, and does nothing where nobody listens', async () => {
    const beats: (string | undefined)[] = [];
    const { heartbeat } = new WorkContext(new LazyAbort(), async (message) => void beats.push(message));
    await heartbeat('half way');
    expect(beats).toEqual(['half way']);
    await expect(new WorkContext(new LazyAbort(), undefined).heartbeat()).resolves.toBeUndefined();
  });

  it('has no accessor of its own, which would give each object a hidden class that outlives its run', () => {
    const context = new WorkContext(new LazyAbort(), undefined);
    const own = Object.values(Object.getOwnPropertyDescriptors(context));
    expect(own.filter((property) => 'get' in property)).toEqual([]);
  });
});
