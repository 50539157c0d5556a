import { describe, expect, it } from 'vitest';
import { accept, askText, keysOf, runRound, suspended, turns } from './host.js';

const yes = accept({ text: 'yes' });

describe('answers in place', () => {
  it('let a run go on in memory, question by question', async () => {
    const asked: string[][] = [];
    const outcome = await runRound(
      async (flow) => [await askText(flow, 'a'), await askText(flow, 'b'), flow.round],
      {
        inPlace: (questions) => {
          asked.push(questions.map(({ key }) => key));
          return Promise.resolve({ a: yes, b: yes });
        },
      },
    );
    expect(outcome).toMatchObject({ type: 'completed', value: ['yes', 'yes', 1] });
    expect(asked).toEqual([['a'], ['b']]);
  });

  it('suspend the run when there are none', async () => {
    expect(
      keysOf(await runRound((flow) => askText(flow, 'a'), { inPlace: () => Promise.resolve(undefined) })),
    ).toEqual(['a']);
  });

  it('end the run when they fail', async () => {
    const outcome = await runRound((flow) => askText(flow, 'a'), {
      inPlace: () => Promise.reject(new Error('gone')),
    });
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'gone' } });
  });

  it('are checked as those of a next round are: attempts count, and the reason is told', async () => {
    const messages: unknown[] = [];
    const outcome = await runRound((flow) => askText(flow, 'a'), {
      inPlace: ([question]) => {
        messages.push(question?.question.params['message']);
        return Promise.resolve({ a: accept({ text: 5 }) });
      },
    });
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'answer_invalid', attempts: 3 } });
    expect(messages).toEqual([
      'a',
      expect.stringMatching(/could not be used/),
      expect.stringMatching(/could not be used/),
    ]);
  });

  it('that are missing or malformed are not asked for without end: limits.rounds bounds them too', async () => {
    let asked = 0;
    const outcome = await runRound((flow) => askText(flow, 'a'), {
      // The 100th time is beyond every limit; it only ends a test that would not end.
      inPlace: () => Promise.resolve((asked += 1) < 100 ? { a: 'malformed' } : undefined),
      limits: { rounds: 16 },
    });
    expect(outcome.type).toBe('failed');
    expect(asked).toBeLessThanOrEqual(16);
  });

  it('come too late when the client has gone', async () => {
    const client = new AbortController();
    const outcome = await runRound((flow) => askText(flow, 'a'), {
      signal: client.signal,
      inPlace: async () => {
        client.abort(new Error('hung up'));
        await turns(1);
        return { a: yes };
      },
    });
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'hung up' } });
  });

  it('Q1: are not taken by a question that was asked while they were on their way', async () => {
    const asked: string[][] = [];
    const outcome = await runRound(
      (flow) =>
        Promise.all([askText(flow, 'a'), turns(6).then(() => flow.confirm('delete', 'Delete everything?'))]),
      {
        inPlace: async (questions) => {
          asked.push(questions.map(({ key }) => key));
          await turns(12);
          return asked.length === 1 ? { a: yes, delete: accept({ confirm: true }) } : undefined;
        },
      },
    );
    expect(asked).toEqual([['a'], ['delete']]);
    expect(outcome.type).toBe('suspended');
  });

  it('Q1: a state does not claim to have asked what did not go out', async () => {
    const outcome = await runRound(
      (flow) =>
        Promise.all([askText(flow, 'a'), turns(6).then(() => flow.confirm('delete', 'Delete everything?'))]),
      {
        inPlace: async () => {
          await turns(12);
          return undefined;
        },
      },
    );
    const { questions, asked } = suspended(outcome);
    expect(asked.map(({ key }) => key)).toEqual(questions.map(({ key }) => key));
  });
});
