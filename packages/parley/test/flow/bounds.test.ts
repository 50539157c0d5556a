import { describe, expect, it } from 'vitest';
import { TooManyQuestions, TooManyRounds } from '../../src/errors.js';
import type { Flow } from '../../src/flow/index.js';
import { rehearse } from '../../src/testing/index.js';
import { accept, askText, nextRound, runRound } from './host.js';

const answers = () => ({ text: 'x' });
const many = (flow: Flow, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, index) => askText(flow, `q${index}`)));
const inTurn = async (flow: Flow, count: number): Promise<number> => {
  for (let index = 0; index < count; index += 1) await askText(flow, `q${index}`);
  return flow.round;
};

describe('limits.questions', () => {
  it('allows 16 in a round', async () => {
    expect((await rehearse((flow: Flow) => many(flow, 16), { answers })).outcome.type).toBe('completed');
  });

  it('ends the flow at more, whatever the handler catches', async () => {
    const { outcome } = await rehearse((flow: Flow) => many(flow, 17).catch(() => 'caught'), { answers });
    expect(outcome.type === 'failed' && outcome.error).toBeInstanceOf(TooManyQuestions);
    expect(outcome).toMatchObject({ type: 'failed', error: { asked: 17, limit: 16 } });
  });

  it('counts what is pending, not what was asked in the life of a flow', async () => {
    const { outcome } = await rehearse((flow: Flow) => inTurn(flow, 3), {
      answers,
      limits: { questions: 1 },
    });
    expect(outcome).toEqual({ type: 'completed', value: 4 });
  });
});

describe('limits.rounds (GAP-06)', () => {
  it('allows 16', async () => {
    expect((await rehearse((flow: Flow) => inTurn(flow, 15), { answers })).outcome).toEqual({
      type: 'completed',
      value: 16,
    });
  });

  it('ends the flow that does not end within them', async () => {
    const { outcome, rounds } = await rehearse((flow: Flow) => inTurn(flow, 16).catch(() => 0), { answers });
    expect(outcome.type === 'failed' && outcome.error).toBeInstanceOf(TooManyRounds);
    expect(outcome).toMatchObject({ error: { limit: 16 } });
    expect(rounds).toHaveLength(16);
  });

  it('ends a flow whose questions nobody answers', async () => {
    const first = await runRound((flow) => askText(flow, 'q'), { limits: { rounds: 2 } });
    const second = await runRound((flow) => askText(flow, 'q'), {
      ...nextRound(first),
      limits: { rounds: 2 },
    });
    expect(second).toMatchObject({ type: 'failed', error: { code: 'too_many_rounds' } });
  });
});

describe('limits.answerBytes', () => {
  it('counts a larger answer as absent', async () => {
    const first = await runRound((flow) => askText(flow, 'q'));
    const answered = async (text: string, answerBytes: number): Promise<string> =>
      (
        await runRound((flow) => askText(flow, 'q'), {
          ...nextRound(first, { q: accept({ text }) }),
          limits: { answerBytes },
        })
      ).type;
    expect(await answered('x'.repeat(100), 1_000)).toBe('completed');
    expect(await answered('x'.repeat(1_000), 1_000)).toBe('suspended');
    expect(await answered('\u4e2d'.repeat(330), 1_000)).toBe('suspended');
  });
});
