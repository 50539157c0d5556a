import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/audit/attack.js';
import { summaryOf } from '../../../src/audit/report/summary.js';
import { attackOf, MIXED, reportOf, resultOf } from './fixture.js';

const broken: Finding = { verdict: 'broken', found: 'x' };
const note: Finding = { verdict: 'weak', severity: 'note', found: 'x' };
const safe: Finding = { verdict: 'safe', found: 'x' };
const unclear: Finding = { verdict: 'unclear', found: 'x' };

describe('the summary', () => {
  it.each(['critical', 'high'] as const)('says not to deploy with a %s fault', (severity) => {
    const { tone, headline } = summaryOf(reportOf(resultOf(attackOf('one', { severity }), broken, broken)));
    expect({ tone, headline }).toEqual({
      tone: 'bad',
      headline: `Do not deploy: 1 ${severity} fault (one).`,
    });
  });

  it('counts an attack once, by its worst, and names three', () => {
    const results = ['a', 'b', 'c', 'd'].map((id) =>
      resultOf(attackOf(id, { severity: 'high' }), broken, note),
    );
    expect(summaryOf(reportOf(...results)).headline).toBe(
      'Do not deploy: 4 high faults (a, b, c and 1 more).',
    );
  });

  it('says what to mend before deploying, or that nothing stands against it', () => {
    const of = (severity: 'medium' | 'low') =>
      summaryOf(reportOf(resultOf(attackOf('a', { severity }), broken)));
    expect(of('medium').headline).toBe('Deploy after this is mended: 1 medium fault (a).');
    expect(of('low').headline).toMatch(/^Nothing stands against deploying, but .*: 1 low fault \(a\)\.$/);
  });

  it('says that no fault was found, with the notes', () => {
    expect(summaryOf(reportOf(resultOf(attackOf('a'), safe)))).toMatchObject({
      tone: 'good',
      headline: 'No fault was found.',
    });
    expect(summaryOf(reportOf(resultOf(attackOf('a'), safe, note))).headline).toBe(
      'No fault was found. 1 note.',
    );
  });

  it('claims no safety where something is unclear, or nothing was tested', () => {
    const some = summaryOf(reportOf(resultOf(attackOf('a'), safe), resultOf(attackOf('b'), safe, unclear)));
    expect(some).toMatchObject({
      tone: 'open',
      headline: expect.stringContaining('not everything could be tested'),
    });
    expect(some.details.join(' ')).toContain('Not everything could be tested: b.');
    expect(summaryOf(reportOf(resultOf(attackOf('a'), unclear))).headline).toMatch(/^Nothing can be said/);
    expect(summaryOf(reportOf()).headline).toMatch(/^Nothing can be said/);
  });

  it('says which options would let it test more', () => {
    const hint = summaryOf(MIXED).details.at(-1);
    expect(hint).toMatch(/^To test more: --other .*; --probe /);
    expect(hint).not.toContain('--wait');
  });
});
