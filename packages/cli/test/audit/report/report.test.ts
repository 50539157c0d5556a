import { describe, expect, it } from 'vitest';
import {
  above,
  faultGroups,
  faultsOf,
  severityOf,
  verdictOf,
  worstOf,
} from '../../../src/audit/report/report.js';
import { attackOf, MIXED, reportOf, resultOf } from './fixture.js';

describe('the severity of a finding', () => {
  it("is the attack's for what is broken, unless the finding says another", () => {
    const attack = attackOf('a', { severity: 'high' });
    expect(severityOf(attack, { verdict: 'broken', found: '' })).toBe('high');
    expect(severityOf(attack, { verdict: 'broken', severity: 'medium', found: '' })).toBe('medium');
  });

  it("is at most the attack's for what is weak, and low where it says none", () => {
    const attack = attackOf('a', { severity: 'medium' });
    expect(severityOf(attack, { verdict: 'weak', severity: 'critical', found: '' })).toBe('medium');
    expect(severityOf(attack, { verdict: 'weak', found: '' })).toBe('low');
  });

  it.each(['safe', 'unclear', 'not-applicable'] as const)('is none for what is %s', (verdict) => {
    expect(severityOf(attackOf('a'), { verdict, severity: 'high', found: '' })).toBeUndefined();
  });
});

describe('the faults of a report', () => {
  it('stand worst first, and broken before weak', () => {
    const report = reportOf(
      resultOf(attackOf('weak'), { verdict: 'weak', severity: 'high', found: '' }),
      resultOf(attackOf('low'), { verdict: 'weak', severity: 'low', found: '' }),
      resultOf(attackOf('broken', { severity: 'high' }), { verdict: 'broken', found: '' }),
    );
    expect(faultsOf(report).map(({ attack }) => attack.id)).toEqual(['broken', 'weak', 'low']);
  });

  it('are counted from a severity on', () => {
    expect(above(MIXED, 'medium').map(({ attack }) => attack.id)).toEqual(['state-edited', 'state-edited']);
    expect(above(MIXED, 'low')).toHaveLength(3);
    expect(above(MIXED, 'note')).toHaveLength(4);
  });

  it('have a worst one, or none', () => {
    expect(worstOf(MIXED)).toBe('critical');
    expect(worstOf(reportOf(resultOf(attackOf('a'), { verdict: 'safe', found: '' })))).toBeUndefined();
  });

  it('are taken together where they differ by their round only', () => {
    const [first] = faultGroups(MIXED);
    expect(first).toMatchObject({ attack: { id: 'state-edited' }, rounds: [1, 2] });
  });
});

describe('the verdict of an attack', () => {
  it('is its worst: broken, weak, unclear, safe', () => {
    expect(MIXED.results.map(verdictOf)).toEqual([
      'safe',
      'broken',
      'weak',
      'weak',
      'unclear',
      'not-applicable',
    ]);
  });

  it('is not applicable where nothing was found at all', () => {
    expect(verdictOf(resultOf(attackOf('a')))).toBe('not-applicable');
  });
});
