import { describe, expect, it } from 'vitest';
import type { Flow } from '../../src/flow/index.js';
import { rehearse } from '../../src/testing/index.js';
import { askText, turns } from './host.js';

type Branch = (flow: Flow) => Promise<unknown>;

/** A branch of some steps one after the other; each takes so many turns, or no time. */
const steps =
  (name: string, ...durations: readonly number[]): Branch =>
  async (flow) => {
    for (const [index, count] of durations.entries())
      await flow.step(`${name}${index}`, () => (count === 0 ? undefined : turns(count)));
  };

const question =
  (key: string, reactions = 0): Branch =>
  async (flow) => {
    await askText(flow, key);
    for (let index = 0; index < reactions; index += 1) await undefined;
  };

const inTurn =
  (...branches: readonly Branch[]): Branch =>
  async (flow) => {
    for (const branch of branches) await branch(flow);
  };

const slowReactions =
  (branch: Branch, reactions: number): Branch =>
  async (flow) => {
    await branch(flow);
    for (let index = 0; index < reactions; index += 1) await undefined;
  };

const failing: Branch = (flow) =>
  flow.step('fails', () => Promise.reject(new Error('no'))).catch(() => undefined);

const shapes: readonly (readonly [string, readonly Branch[], number])[] = [
  ['two steps that take no time', [steps('a', 0), steps('b', 0)], 0],
  ['a chain of three against one', [steps('a', 0, 0, 0), steps('b', 0)], 1],
  ['long reactions against short ones', [slowReactions(steps('a', 0), 50), steps('b', 0)], 0],
  ['a slow step against a chain of quick ones', [steps('a', 9), steps('b', 1, 1, 1)], 1],
  ['a slow step against a step and a question', [steps('a', 5), inTurn(steps('b', 0), question('x'))], 0],
  ['a step against a question', [question('x'), steps('b', 0)], 1],
  ['a slow step against a question', [question('x'), steps('b', 6)], 1],
  ['two questions answered at once', [question('x'), question('y')], 0],
  ['two questions, the first with a long reaction', [question('x', 30), question('y')], 0],
  ['a question and a step against a question', [inTurn(question('x'), steps('a', 0)), question('y')], 1],
  [
    'a question and a step against a question with long reactions',
    [inTurn(question('x'), steps('a', 0)), question('y', 40)],
    1,
  ],
  [
    'two questions and slow steps after them',
    [inTurn(question('x'), steps('a', 4)), inTurn(question('y'), steps('b', 2))],
    1,
  ],
  ['two questions in turn against one', [inTurn(question('x'), question('z')), question('y')], 1],
  ['a failure that is caught against a question', [question('x'), failing], 1],
  ['a failure that is caught against a chain', [steps('a', 0, 0), failing], 1],
  [
    'three branches',
    [
      inTurn(steps('a', 1), question('x')),
      inTurn(question('y'), question('z')),
      inTurn(question('v'), steps('c', 3)),
    ],
    0,
  ],
];

describe('Promise.race', () => {
  it.each(shapes)('has the same winner in every round: %s', async (_, branches, winner) => {
    const winners: number[] = [];
    const { outcome, rounds } = await rehearse(
      async (flow: Flow) => {
        const first = await Promise.race(branches.map((branch, index) => branch(flow).then(() => index)));
        winners.push(first);
        await flow.step('after the race', () => first);
        await askText(flow, 'next');
        await askText(flow, 'last');
        return first;
      },
      {
        answers: ({ key }) => ({ text: key }),
        rounds: Object.fromEntries([1, 2, 3, 4, 5].map((round) => [round, { instance: `i${round}` }])),
      },
    );
    expect(outcome).toEqual({ type: 'completed', value: winner });
    expect(new Set(winners)).toEqual(new Set([winner]));
    expect(winners.length).toBeGreaterThanOrEqual(3);
    expect(rounds.at(-1)?.journal).toContainEqual({ type: 'step', key: 'after the race', value: winner });
  });

  it.each(shapes)('has the winner of a run in one go: %s', async (_, branches, winner) => {
    const { outcome } = await rehearse(
      (flow: Flow) => Promise.race(branches.map((branch, index) => branch(flow).then(() => index))),
      {
        answers: ({ key }) => ({ text: key }),
        uninterrupted: true,
      },
    );
    expect(outcome).toEqual({ type: 'completed', value: winner });
  });

  it('lets a loser that has time go on, and its recorded work stays recorded', async () => {
    let runs = 0;
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        const slow = flow.step('slow', async () => {
          await turns(3);
          return (runs += 1);
        });
        await Promise.race([slow, flow.step('quick', () => 0)]);
        await askText(flow, 'next');
        return await slow;
      },
      { answers: { next: { text: 'x' } } },
    );
    expect(outcome).toEqual({ type: 'completed', value: 1 });
    expect(runs).toBe(1);
  });
});
