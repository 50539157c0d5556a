import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Queue } from '../../examples/distributed-client/queue.js';
import { SavedFlowOutdated, type SavedFlow } from '../../packages/parley/src/client/index.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-example-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the example of distributed clients', () => {
  it(
    'goes as it tells, in processes of its own, and leaves nothing behind',
    { timeout: 120_000 },
    async () => {
      const child = spawn(process.execPath, ['--import', 'tsx', 'examples/distributed-client/main.ts'], {
        env: { ...process.env, TMPDIR: folder, TEMP: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => (output += text));
      }
      const code = await new Promise((resolve) => void child.once('close', resolve));
      expect(output).toContain('✓ All 12 expectations held.');
      expect(code).toBe(0);
      for (const said of [
        'Sent. The server says: trip-2041 is paid: 120 EUR.',
        'Somebody else was quicker. I sent nothing.',
        'ann finds  expired: The server takes it up no more. Ask again.',
        'It was paid. I close it, and send nothing.',
        'Sent. The server says: hotel-2043 is paid: 210 EUR.',
      ]) {
        expect(output).toContain(said);
      }
      // A state is nobody's to read.
      expect(output).not.toContain('parley1.');
      expect((await readdir(folder)).filter((name) => name.startsWith('parley-'))).toEqual([]);
    },
  );
});

describe('its queue', () => {
  const FLOW: SavedFlow = {
    format: 'parley-flow',
    version: 1,
    id: 'a',
    revision: 1,
    server: { url: 'http://127.0.0.1/mcp', principal: 'ann' },
    request: { method: 'tools/call', params: { name: 't' } },
    round: 1,
    waits: 0,
    requestState: 's',
    questions: [{ key: 'r', kind: 'roots' }],
    repeats: { digest: 'd', times: 1 },
    beganAt: 1,
    askedAt: 2,
  };

  it('lets one of many go on with a call, though all try at once', async () => {
    const queue = await Queue.open(folder);
    await queue.store('a').save(FLOW);
    const others = await Promise.all(Array.from({ length: 20 }, () => Queue.open(folder)));
    const sent = { ...FLOW, revision: 2, sentAt: 3 };
    const outcomes = await Promise.allSettled(others.map((other) => other.store('a').save(sent, FLOW)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(SavedFlowOutdated);
    }
  });

  it('tells what waits from what was sent', async () => {
    const queue = await Queue.open(folder);
    await queue.store('a').save(FLOW);
    await queue.store('b').save({ ...FLOW, sentAt: 3 });
    expect(new Set(await queue.list())).toEqual(
      new Set([
        { id: 'a', place: 'waiting' },
        { id: 'b', place: 'sent' },
      ]),
    );
    expect(await queue.whereIs('c')).toBeUndefined();
  });

  it('keeps a call until its end is written down', async () => {
    const queue = await Queue.open(folder);
    const store = queue.store('a');
    await store.save(FLOW);
    await store.clear(FLOW);
    expect(await queue.whereIs('a')).toBe('waiting');
    await queue.end('a', { outcome: 'answered', text: 'paid' });
    expect(await queue.whereIs('a')).toBe('ended');
    expect(await queue.list()).toEqual([]);
  });
});
