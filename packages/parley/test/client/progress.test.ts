import { describe, expect, it } from 'vitest';
import { drive, resume, type DriveProgress } from '../../src/client/index.js';
import { CALL, done, failureOf, interim, optionsWith, scripted, testClock, textForm } from './harness.js';
import { FLOW } from './stores.js';
import { asks, completed, look, looking } from './task-script.js';

/** What is told of a call, in short. */
function listener() {
  const told: string[] = [];
  const onProgress = (progress: DriveProgress): void =>
    void told.push(progress.type === 'pause' ? `${progress.round}: ${progress.ms} ms` : `${progress.round}`);
  return { told, onProgress };
}

describe('onProgress', () => {
  it('tells each round as it leaves, and each pause before one', async () => {
    const { client } = await scripted((_request, nth) => {
      if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 'a' });
      return nth < 4 ? interim({ requestState: 'b' }) : done();
    });
    const { told, onProgress } = listener();
    await drive(client, CALL, optionsWith({ onProgress }));
    expect(told).toEqual(['1', '2', '3: 250 ms', '3', '4: 500 ms', '4']);
  });

  it('goes on counting in a call that is resumed', async () => {
    const { client } = await scripted(() => done());
    const { told, onProgress } = listener();
    await resume(client, FLOW, optionsWith({ onProgress }));
    expect(told).toEqual(['2']);
  });

  it('tells of a task, too', async () => {
    const { client } = await looking((nth) => [look(), asks({ q: textForm() }), completed()][nth - 1], {
      pollIntervalMs: 700,
    });
    const { told, onProgress } = listener();
    await drive(client, CALL, optionsWith({ onProgress, clock: testClock(60_000) }));
    expect(told).toEqual(['1', '2: 700 ms', '2: 1000 ms', '3', '3: 1000 ms']);
  });

  it('has no say: what a listener throws changes nothing', async () => {
    const thrown = (): never => {
      throw new Error('no screen');
    };
    const { client } = await looking(completed);
    await drive(client, CALL, optionsWith({ onProgress: thrown, onTask: thrown }));
  });

  it('tells nothing of a retry that does not leave', async () => {
    const { client } = await scripted(() => interim({ inputRequests: { q: textForm() } }));
    const { told, onProgress } = listener();
    await failureOf(drive(client, CALL, optionsWith({ onProgress, policy: { beforeRetry: () => 'stop' } })));
    expect(told).toEqual(['1']);
  });
});
