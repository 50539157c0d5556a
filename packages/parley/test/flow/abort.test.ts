import { describe, expect, it } from 'vitest';
import { LazyAbort } from '../../src/flow/abort.js';

describe('LazyAbort', () => {
  it('gives one signal, which aborts with the reason', () => {
    const abort = new LazyAbort();
    const { signal } = abort;
    expect(abort.signal).toBe(signal);
    expect(signal.aborted).toBe(false);
    abort.abort('gone');
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBe('gone');
  });

  it('gives an aborted signal when it was aborted before anybody asked', () => {
    const abort = new LazyAbort();
    abort.abort();
    expect(abort.signal.aborted).toBe(true);
  });
});
