import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Flow } from '../../src/flow/index.js';
import { rehearse, type Rehearsal } from '../../src/testing/index.js';
import { accept, askText, keysOf, nextRound, runRound, suspended, turns } from './host.js';

const answers = Object.fromEntries(['a', 'b', 'c', 'd', 'go'].map((key) => [key, { text: key }]));
const asked = (rehearsal: Rehearsal<unknown>): string[][] =>
  rehearsal.rounds.map((round) => round.questions.map(({ key }) => key));

describe('one round', () => {
  it('holds all questions of a Promise.all, in the order in which they were asked', async () => {
    const rehearsal = await rehearse(
      (flow: Flow) => Promise.all(['b', 'a', 'c'].map((key) => askText(flow, key))),
      { answers },
    );
    expect(asked(rehearsal)).toEqual([['b', 'a', 'c'], []]);
    expect(rehearsal.outcome).toEqual({ type: 'completed', value: ['b', 'a', 'c'] });
  });

  it('holds questions that come after reactions of different length', async () => {
    const after = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) await undefined;
    };
    const rehearsal = await rehearse(
      (flow: Flow) =>
        Promise.all([
          askText(flow, 'a'),
          after(1).then(() => askText(flow, 'b')),
          after(500).then(() => askText(flow, 'c')),
        ]),
      { answers },
    );
    expect(asked(rehearsal)).toEqual([['a', 'b', 'c'], []]);
  });

  it('holds questions that come after steps, with real I/O in them', async () => {
    const rehearsal = await rehearse(
      (flow: Flow) =>
        Promise.all([
          askText(flow, 'a'),
          flow.step('sync', () => 1).then(() => askText(flow, 'b')),
          flow.step('turns', () => turns(9)).then(() => askText(flow, 'c')),
          flow
            .step('file', async () => (await readFile(new URL(import.meta.url))).length > 0)
            .then(() => askText(flow, 'd')),
        ]),
      { answers },
    );
    expect(asked(rehearsal).map((keys) => keys.toSorted())).toEqual([['a', 'b', 'c', 'd'], []]);
    expect(rehearsal.outcome).toEqual({ type: 'completed', value: ['a', 'b', 'c', 'd'] });
  });

  it('holds questions that come after a turn of the event loop outside of a step', async () => {
    const rehearsal = await rehearse(
      (flow: Flow) => Promise.all([askText(flow, 'a'), turns(1).then(() => askText(flow, 'b'))]),
      { answers },
    );
    expect(asked(rehearsal)).toEqual([['a', 'b'], []]);
  });
});

describe('I/O outside of a step', () => {
  it('costs at most a further round, and the result is right', async () => {
    for (const count of [1, 2, 3, 5, 8]) {
      const rehearsal = await rehearse(
        (flow: Flow) =>
          Promise.all([askText(flow, 'a'), turns(count).then(() => askText(flow, 'b')), askText(flow, 'c')]),
        { answers },
      );
      expect(rehearsal.outcome).toEqual({ type: 'completed', value: ['a', 'b', 'c'] });
      expect(rehearsal.rounds.length).toBeLessThanOrEqual(3);
    }
  });

  it('never loses what was recorded after it, nor runs it again', async () => {
    for (const count of [1, 3, 6]) {
      let runs = 0;
      const { outcome } = await rehearse(
        (flow: Flow) =>
          Promise.all([
            askText(flow, 'a').then(() => askText(flow, 'b')),
            turns(count).then(() => flow.step('late', () => (runs += 1))),
            flow.step('early', () => 0).then(() => askText(flow, 'c')),
          ]),
        { answers },
      );
      expect(outcome).toEqual({ type: 'completed', value: ['b', 1, 'c'] });
      expect(runs).toBe(1);
    }
  });

  it('R2: does not let an answer of this round overtake what was recorded before it', async () => {
    const winners: string[] = [];
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        const worked = async (): Promise<string> => {
          await flow.step('first', () => 1);
          await turns(1);
          await flow.step('second', () => 2);
          return 'work';
        };
        const winner = await Promise.race([worked(), askText(flow, 'a')]);
        winners.push(winner);
        await askText(flow, 'go');
        return winner;
      },
      { answers },
    );
    expect(winners).toEqual(['work', 'work']);
    expect(outcome).toEqual({ type: 'completed', value: 'work' });
  });

  it('R2: nor after an answer that was recorded', async () => {
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        const answered = async (): Promise<string> => {
          await askText(flow, 'a');
          await turns(1);
          await flow.step('note', () => 1);
          return 'first';
        };
        const asksTwice = async (): Promise<string> => {
          await askText(flow, 'b');
          await askText(flow, 'c');
          return 'second';
        };
        const winner = await Promise.race([answered(), asksTwice()]);
        await flow.step(`work for the ${winner}`, () => 1);
        await askText(flow, 'go');
        return winner;
      },
      { answers },
    );
    expect(outcome).toEqual({ type: 'completed', value: 'first' });
  });
});

describe('partial answers (GAP-17)', () => {
  const both = (flow: Flow<undefined>) => Promise.all([askText(flow, 'a'), askText(flow, 'b')]);

  it('keeps what is valid and asks only for the rest', async () => {
    const first = await runRound(both);
    const second = await runRound(both, nextRound(first, { b: accept({ text: 'B' }) }));
    expect(keysOf(second)).toEqual(['a']);
    const third = await runRound(both, { ...nextRound(second, { a: accept({ text: 'A' }) }), round: 3 });
    expect(third).toMatchObject({ type: 'completed', value: ['A', 'B'] });
  });

  it('MRTR-S-14: asks again, and takes no attempt for it, when none came', async () => {
    let before = await runRound(both);
    for (let round = 2; round < 8; round += 1) {
      before = await runRound(both, { ...nextRound(before, { wrong_key: accept({ text: 'x' }) }), round });
      expect(keysOf(before)).toEqual(['a', 'b']);
      expect(suspended(before).asked.map(({ attempts }) => attempts)).toEqual([undefined, undefined]);
    }
  });

  it('MRTR-S-13: never records an answer under a key that was not asked', async () => {
    const first = await runRound(both);
    const second = await runRound(
      both,
      nextRound(first, { b: accept({ text: 'B' }), c: accept({ text: 'made up' }), toString: accept({}) }),
    );
    expect(second.journal.join('\n')).not.toMatch(/made up/);
    expect(second.journal).toHaveLength(1);
  });
});

describe('MRTR-S-16: earlier answers', () => {
  it('are carried in the state, since the client does not send them again', async () => {
    const sent: string[][] = [];
    const { outcome } = await rehearse(
      async (flow: Flow) =>
        `${await askText(flow, 'a')} ${await askText(flow, 'b')} ${await askText(flow, 'c')}`,
      {
        answers: (question, round) => {
          sent[round] = [...(sent[round] ?? []), question.key];
          return { text: `${question.key}${round}` };
        },
      },
    );
    expect(sent.filter(Boolean)).toEqual([['a'], ['b'], ['c']]);
    expect(outcome).toEqual({ type: 'completed', value: 'a1 b2 c3' });
  });
});
