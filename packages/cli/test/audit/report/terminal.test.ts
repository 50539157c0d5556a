import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { terminalReport } from '../../../src/audit/report/terminal.js';
import { columnsOf } from '../../../src/terminal/drawing/text-layout.js';
import { attackOf, MIXED, reportOf, resultOf } from './fixture.js';

describe('the report on a terminal', () => {
  it('has faults worst first, notes, what is unclear, and the summary', () => {
    expect(terminalReport(MIXED)).toBe(`Audit of https://bank.example.com/mcp, tool transfer
A flow of 3 rounds; 210 requests in 12.3 s, from 2026-11-30 05:00:00 UTC on.

  broken  critical  state-edited, rounds 1, 2
          An edited state was taken.
  weak    low       refusal-tells
          The error says <b>why</b>: expired.

Notes (1)
  replay-in-sequence: The same retry is taken twice. Give --probe to see whether
  its effect is doubled.

Unclear (1)
  state-oversized: No response in 20 s.

Not applicable: state-other-user

Do not deploy: 1 critical and 1 low fault (state-edited, refusal-tells).
6 attacks in 210 requests: 1 withstood, 1 broken, 2 weak, 1 unclear, 1 not
applicable.
Not everything could be tested: state-oversized. Nothing is said of them.
To test more: --other gives a second user's header, so that states can be
presented by somebody else; --probe names a tool that counts effects, so that a
doubled effect is seen.
`);
  });

  it('fits the terminal, also with long words and many rounds', () => {
    const attack = attackOf('question-on-forbidden-method');
    const findings = Array.from({ length: 40 }, (_, round) => ({
      verdict: 'broken' as const,
      round,
      found: `It said ${'x'.repeat(300)}.`,
    }));
    for (const columns of [50, 80, 120]) {
      const lines = terminalReport(reportOf(resultOf(attack, ...findings)), { columns }).split('\n');
      expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(columns);
    }
  });

  it('has colours when it may, and says the same without', () => {
    const colored = terminalReport(MIXED, { colors: true });
    expect(colored).toContain('\u001b[31m');
    expect(stripVTControlCharacters(colored)).toBe(terminalReport(MIXED));
  });

  it("writes out what a terminal would act on in a server's text", () => {
    const report = reportOf(
      resultOf(attackOf('a'), { verdict: 'broken', found: 'It said \u001b[2J\u202e\nhi.' }),
    );
    expect(terminalReport(report)).toContain(String.raw`It said \u001b[2J\u202e hi.`);
  });
});
