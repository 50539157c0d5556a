import { describe, expect, it } from 'vitest';
import { findingsOf, type Tried } from '../../../src/audit/state/findings.js';

const EXCHANGE = {
  request: { method: 'tools/call', params: {}, caller: 'main' },
  reply: { error: { code: -32_602, message: 'Invalid' }, serverRequests: [], ms: 1 },
  outcome: { kind: 'refused', code: -32_602, status: 400 },
} as const;

function tried(what: string, verdict: Tried['judged']['verdict'] = 'safe'): Tried {
  return { what, judged: { verdict, did: verdict === 'safe' ? 'refused' : 'taken' }, exchange: EXCHANGE };
}

describe('the findings of a round', () => {
  it('are one that is safe when everything was tried and refused', () => {
    expect(findingsOf([tried('a'), tried('b'), tried('c')], 1)).toEqual([
      { verdict: 'safe', round: 1, found: 'All 3 variants: refused.' },
    ]);
  });

  it.each([
    [[tried('a'), tried('b')], '2 of 40 variants: refused. The server is too slow for the others.'],
    [[], 'The server is too slow: none of 40 variants were tried.'],
  ])('never call safe what was not tried: %#', (some, found) => {
    expect(findingsOf(some, 2, 40)).toEqual([{ verdict: 'unclear', round: 2, found }]);
  });

  it('tell of what was taken, however much was left out', () => {
    expect(findingsOf([tried('a'), tried('b', 'broken')], 1, 40)).toMatchObject([{ verdict: 'broken' }]);
  });

  it('say so when there was nothing to try', () => {
    expect(findingsOf([], 3)).toMatchObject([{ verdict: 'not-applicable', round: 3 }]);
  });
});
