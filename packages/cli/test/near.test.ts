import { describe, expect, it } from 'vitest';
import { nearNames } from '../src/near.js';

describe('near names', () => {
  it.each([
    ['deploi', ['deploy', 'rollback'], ['deploy']],
    ['evn', ['env', 'count'], ['env']],
    ['DEPLOY', ['deploy'], ['deploy']],
    ['deploy', ['releases.deploy', 'x'], ['releases.deploy']],
    ['list', ['last', 'lisp', 'lists', 'lost'], ['last', 'lisp', 'lists']],
    ['a', ['b', 'zz'], ['b']],
    ['xyz', ['deploy'], []],
    ['', ['deploy'], []],
    ['deploy', [], []],
  ])('of %j among %j are %j', (meant, names, near) => {
    expect(nearNames(meant, names)).toEqual(near);
  });

  it('are not looked for in what is long', () => {
    expect(nearNames('a'.repeat(1_000_000), ['a'.repeat(1_000_000)])).toEqual([]);
    expect(nearNames('deploy', ['deploy'.repeat(1_000_000)])).toEqual([]);
  });
});
