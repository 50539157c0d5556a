import { describe, expect, it } from 'vitest';
import { sarifReport } from '../../../src/audit/report/sarif.js';
import { attackOf, MIXED, reportOf, resultOf } from './fixture.js';

interface Log {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly { id: string; helpUri: string }[] } };
      readonly invocations: readonly [{ readonly toolExecutionNotifications: readonly object[] }];
      readonly results: readonly {
        readonly ruleId: string;
        readonly ruleIndex: number;
        readonly level: string;
        readonly message: { readonly text: string };
        readonly locations: readonly {
          physicalLocation: { artifactLocation: { uri: string } };
          logicalLocations: readonly [{ fullyQualifiedName: string }];
        }[];
        readonly partialFingerprints: Readonly<Record<string, string>>;
      }[];
    },
  ];
}

const logOf = (report = MIXED) => JSON.parse(sarifReport(report, { version: '1.2.3' })) as Log;

describe('the report as SARIF', () => {
  it('has a rule for each attack, with the page of the specification', () => {
    const { rules } = logOf().runs[0].tool.driver;
    expect(rules.map(({ id }) => id)).toEqual(MIXED.results.map(({ attack }) => attack.id));
    expect(rules[0]?.helpUri).toBe(
      'https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr',
    );
  });

  it('has a result for each fault, of its rule, with a level and a place for each round', () => {
    const [{ results, tool }] = logOf().runs;
    expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ['state-edited', 'error'],
      ['refusal-tells', 'note'],
      ['replay-in-sequence', 'note'],
    ]);
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
    expect(
      results[0]?.locations.map(({ logicalLocations: [{ fullyQualifiedName }] }) => fullyQualifiedName),
    ).toEqual(['tools/call/transfer/round/1', 'tools/call/transfer/round/2']);
    expect(results[1]?.locations).toHaveLength(1);
  });

  it('names a file in each place, since code scanning shows no result without one', () => {
    const uris = (report = MIXED) =>
      logOf(report).runs[0].results.flatMap(({ locations }) =>
        locations.map(({ physicalLocation }) => physicalLocation.artifactLocation.uri),
      );
    expect(new Set(uris())).toEqual(new Set(['mcp/tools/transfer']));
    expect(new Set(uris({ ...MIXED, tool: '../a b/%' }))).toEqual(new Set(['mcp/tools/.._a_b__']));
  });

  it('keeps its fingerprints from one audit to the next, each its own', () => {
    const prints = (report = MIXED) => logOf(report).runs[0].results.map((each) => each.partialFingerprints);
    expect(prints({ ...MIXED, startedAt: '2027-01-01T00:00:00.000Z', seconds: 1 })).toEqual(prints());
    expect(new Set(prints().map((each) => JSON.stringify(each))).size).toBe(3);
  });

  it('tells of what is unclear, and gives no result for it', () => {
    const [{ invocations }] = logOf().runs;
    expect(invocations[0].toolExecutionNotifications).toMatchObject([
      { message: { text: 'No response in 20 s.' }, associatedRule: { id: 'state-oversized' } },
    ]);
  });

  it("makes no link and no placeholder of a server's text", () => {
    const found = 'It said [click](https://evil.example) {0}.';
    const { results } = logOf(reportOf(resultOf(attackOf('a'), { verdict: 'broken', found }))).runs[0];
    expect(results[0]?.message.text).toContain(String.raw`It said \[click\](https://evil.example) {{0}}.`);
  });
});
