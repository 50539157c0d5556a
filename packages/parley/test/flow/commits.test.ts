import { describe, expect, it } from 'vitest';
import { Commits } from '../../src/flow/commits.js';

/** Commits that a test ends by hand. */
function byHand(): {
  commits: Commits;
  given: (readonly string[])[];
  end: (error?: Error) => Promise<void>;
} {
  const given: (readonly string[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const commits = new Commits((lines) => {
    given.push(lines);
    return new Promise<void>((resolve, reject) => {
      ends.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  });
  const end = async (error?: Error): Promise<void> => {
    ends.shift()?.(error);
    await settle();
  };
  return { commits, given, end };
}

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Whether a promise has settled by now, and how. */
function watch(promise: Promise<void> | undefined): { state: string } {
  const seen = { state: promise === undefined ? 'durable' : 'pending' };
  promise?.then(
    () => (seen.state = 'resolved'),
    (error: Error) => (seen.state = error.message),
  );
  return seen;
}

describe('Commits', () => {
  it('has nothing to wait for before anything is added, and after all of it was committed', async () => {
    const { commits, given, end } = byHand();
    expect(commits.flush()).toBeUndefined();
    commits.add('a');
    const first = watch(commits.flush());
    await settle();
    await end();
    expect(first.state).toBe('resolved');
    expect(commits.flush()).toBeUndefined();
    expect(given).toEqual([['a']]);
  });

  it('commits one batch at a time: what comes meanwhile goes into the next', async () => {
    const { commits, given, end } = byHand();
    commits.add('a');
    const first = watch(commits.flush());
    await settle();
    commits.add('b');
    const second = watch(commits.flush());
    commits.add('c');
    const third = watch(commits.flush());
    await settle();
    expect(given).toEqual([['a']]);
    await end();
    expect(given).toEqual([['a'], ['b', 'c']]);
    expect([first.state, second.state, third.state]).toEqual(['resolved', 'pending', 'pending']);
    await end();
    expect([second.state, third.state]).toEqual(['resolved', 'resolved']);
    expect(given).toHaveLength(2);
  });

  it('waits for the commit under way though nothing was added since', async () => {
    const { commits, given, end } = byHand();
    commits.add('a');
    void commits.flush();
    await settle();
    const again = watch(commits.flush());
    await settle();
    expect(again.state).toBe('pending');
    await end();
    expect(again.state).toBe('resolved');
    expect(given).toEqual([['a']]);
  });

  it('rejects as the commit did, and commits nothing after it', async () => {
    const { commits, given, end } = byHand();
    commits.add('a');
    const first = watch(commits.flush());
    await settle();
    commits.add('b');
    const second = watch(commits.flush());
    await end(new Error('lost'));
    commits.add('c');
    const third = watch(commits.flush());
    await settle();
    expect([first.state, second.state, third.state]).toEqual(['lost', 'lost', 'lost']);
    expect(given).toEqual([['a']]);
  });

  it('rejects when the commit throws instead of promising', async () => {
    const commits = new Commits(() => {
      throw new Error('thrown');
    });
    commits.add('a');
    const flushed = watch(commits.flush());
    await settle();
    expect(flushed.state).toBe('thrown');
  });
});
