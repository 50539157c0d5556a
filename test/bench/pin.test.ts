import { expect, it } from 'vitest';
import { readProcessors } from '../../bench/harness/pin.js';

it.each([
  [' 0,1\n', [0, 1]],
  ['0-3', [0, 1, 2, 3]],
  ['2,5-6,9', [2, 5, 6, 9]],
  ['7', [7]],
  ['', []],
  ['none', []],
  ['3-1', []],
])('reads %j as the processors that taskset means', (list, processors) => {
  expect(readProcessors(list)).toEqual(processors);
});
