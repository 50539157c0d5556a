import { describe, expect, it } from 'vitest';
import { readEntry, type Flow, type Journal } from '../../src/flow/index.js';
import { writeEntry, type JournalEntry } from '../../src/flow/journal.js';
import { accept, askText, keysOf, nextRound, runRound, turns } from './host.js';

const journal = (...entries: readonly JournalEntry[]): Journal => entries.map(writeEntry);
const step = (key: string, value: number): JournalEntry => ({ type: 'step', key, value });
const random = (value: number, after?: string): JournalEntry => ({
  type: 'random',
  value,
  ...(after !== undefined && { after }),
});

/** The recorded answer to the question 'q', when it read so. */
async function answered(message: string, text: unknown = 'x'): Promise<JournalEntry> {
  const handler = (flow: Flow<undefined>): Promise<string> => askText(flow, 'q', message);
  const asked = await runRound(handler);
  const outcome = await runRound(handler, nextRound(asked, { q: accept({ text: 'x' }) }));
  const [line = ''] = outcome.journal;
  const entry = readEntry(line);
  if (entry.type !== 'answer') throw new Error(`no answer but ${entry.type}`);
  return { ...entry, answer: { action: 'accept', content: { text: text as string } } };
}

describe('R8: of two entries under one key', () => {
  it('the later one counts, and the earlier one is gone', async () => {
    const outcome = await runRound((flow) => flow.step('a', () => 0), {
      journal: journal(step('a', 1), step('a', 2)),
    });
    expect(outcome).toMatchObject({ type: 'completed', value: 2, journal: journal(step('a', 2)) });
  });

  it('the later one has its place in the order of delivery', async () => {
    const order: string[] = [];
    const outcome = await runRound(
      (flow) =>
        Promise.all(
          ['a', 'b', 'c'].map((key) => flow.step(key, () => 0).then((value) => order.push(`${key}${value}`))),
        ),
      { journal: journal(step('a', 1), step('b', 2), step('a', 3), step('c', 4), step('b', 5)) },
    );
    expect(order).toEqual(['a3', 'c4', 'b5']);
    expect(outcome.journal).toEqual(journal(step('a', 3), step('c', 4), step('b', 5)));
  });

  it('may be of another type: a failure that was recorded for what had been a value', async () => {
    const failed: JournalEntry = { type: 'step-failed', key: 'a', name: 'Error', message: 'no' };
    expect(
      await runRound((flow) => flow.step('a', () => 0), { journal: journal(step('a', 1), failed) }),
    ).toMatchObject({ type: 'failed', error: { code: 'step_failed' } });
  });

  it('what is not asked for is kept once', async () => {
    const outcome = await runRound(() => 1, { journal: journal(step('a', 1), step('b', 2), step('a', 3)) });
    expect(outcome.journal).toEqual(journal(step('b', 2), step('a', 3)));
  });

  it('draws that followed the earlier answer fall with it', async () => {
    const handler = async (flow: Flow<undefined>): Promise<unknown> => {
      const text = await askText(flow, 'q', 'now');
      return [text, flow.random(), flow.random()];
    };
    const old = await answered('then', 'old');
    const now = await answered('now', 'new');
    // A question that reads differently was answered anew, and the process died before the journal was written whole.
    for (const before of [
      [old, random(0.1, 'q'), random(0.2, 'q')],
      [random(0.1, 'q'), random(0.2, 'q'), old],
    ]) {
      const outcome = await runRound(handler, { journal: journal(...before, now, random(0.3, 'q')) });
      expect(outcome).toMatchObject({ type: 'completed', value: ['new', 0.3, expect.any(Number)] });
      expect(outcome.journal.slice(0, 2)).toEqual(journal(now, random(0.3, 'q')));
      expect(outcome.journal.join()).not.toMatch(/0\.[12]/);
    }
  });
});

describe('R5: a draw', () => {
  it('does not belong to a recorded answer that turned out to be unusable', async () => {
    const outcome = await runRound(
      (flow) => Promise.all([askText(flow, 'q', 'now'), turns(1).then(() => flow.random())]),
      { journal: journal(await answered('now', 5)), round: 2, asked: [] },
    );
    expect(keysOf(outcome)).toEqual(['q']);
    expect(outcome.journal.map(readEntry)).toEqual([{ type: 'random', value: expect.any(Number) as number }]);
  });
});
