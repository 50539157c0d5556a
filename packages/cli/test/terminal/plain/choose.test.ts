import { describe, expect, it } from 'vitest';
import { choose } from '../../../src/terminal/plain/choose.js';

const ITEMS = ['Europe', 'United States', 'United Kingdom', '7', 'Euro zone'].map((label, index) => ({
  value: index,
  label,
  isServers: true,
  alias: `v${index}`,
}));

describe('choose', () => {
  it.each([
    ['1', 0],
    [' 4 ', 3],
    ['7', 3],
    ['europe', 0],
    ['united k', 2],
    ['zone', 4],
    ['v1', 1],
  ])('takes %j', (typed, value) => {
    expect(choose(ITEMS, typed)).toEqual({ type: 'item', value });
  });

  it.each([
    ['', 'Type a number or a name.'],
    ['united', 'Several match. Type a number, or more of the name.'],
    ['99', 'Nothing matches. Type a number from 1 to 5, or a name.'],
    ['asia', 'Nothing matches. Type a number from 1 to 5, or a name.'],
  ])('does not guess at %j', (typed, reason) => {
    expect(choose(ITEMS, typed)).toEqual({ type: 'fault', reason });
  });
});
