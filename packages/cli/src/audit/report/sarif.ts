import { createHash } from 'node:crypto';
import { harmlessJson } from '../../output/json.js';
import type { Attack, Finding, Severity } from '../attack.js';
import {
  faultGroups,
  roundsText,
  together,
  type AuditReport,
  type FaultGroup,
  type ReportOptions,
} from './report.js';
import { specPage } from './spec-page.js';
import { summaryOf } from './summary.js';

/** Levels of SARIF, by severity. */
const LEVELS: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  note: 'note',
};

/** What tools that sort by CVSS take (`security-severity`). */
const SCORES: Readonly<Record<Severity, string>> = {
  critical: '9.5',
  high: '8.0',
  medium: '5.5',
  low: '2.0',
  note: '0.0',
};

/**
 * The report as SARIF 2.1.0. Attacks are its rules, faults its results; what is unclear is a notification of the run. It
 * holds no exchanges.
 */
export function sarifReport(report: AuditReport, { version }: ReportOptions = {}): string {
  const attacks = report.results.map(({ attack }) => attack);
  const started = Date.parse(report.startedAt);
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'parley audit',
            ...(version !== undefined && { semanticVersion: version }),
            rules: attacks.map((attack) => rule(attack)),
          },
        },
        automationDetails: { id: `parley-audit/${report.tool}/` },
        invocations: [
          {
            executionSuccessful: true,
            ...(!Number.isNaN(started) && {
              startTimeUtc: new Date(started).toISOString(),
              endTimeUtc: new Date(started + report.seconds * 1000).toISOString(),
            }),
            toolExecutionNotifications: report.results.flatMap((result) =>
              unclear(result.attack, result.findings),
            ),
          },
        ],
        columnKind: 'utf16CodeUnits',
        properties: { target: report.target, summary: summaryOf(report).headline },
        results: faultGroups(report).map((group) => result(report, attacks.indexOf(group.attack), group)),
      },
    ],
  };
  return `${harmlessJson(log)}\n`;
}

function rule(attack: Attack): object {
  return {
    id: attack.id,
    name: attack.id.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text: literal(attack.title) },
    fullDescription: { text: literal(`${attack.sends} A safe server: ${attack.safe} (${attack.rule})`) },
    help: { text: literal(attack.fix) },
    helpUri: specPage(attack.rule),
    defaultConfiguration: { level: LEVELS[attack.severity] },
    properties: {
      'security-severity': SCORES[attack.severity],
      tags: ['security', 'mcp'],
      rule: attack.rule,
    },
  };
}

/** One result; with a location for each round. */
function result(
  { tool }: AuditReport,
  ruleIndex: number,
  { attack, finding, severity, rounds }: FaultGroup,
): object {
  const where = roundsText(rounds);
  return {
    ruleId: attack.id,
    ruleIndex,
    level: LEVELS[severity],
    message: {
      text: literal(`${finding.found}${where === '' ? '' : ` (${where})`} To mend it: ${attack.fix}`),
    },
    locations: (rounds.length === 0 ? [undefined] : rounds).map((round) => ({
      physicalLocation: standIn(tool),
      logicalLocations: [
        {
          name: tool,
          fullyQualifiedName:
            round === undefined ? `tools/call/${tool}` : `tools/call/${tool}/round/${round}`,
          kind: 'function',
        },
      ],
    })),
    partialFingerprints: { 'parleyAudit/v1': digest([attack.id, tool, finding.verdict, ...rounds]) },
    properties: { verdict: finding.verdict, severity, rounds },
  };
}

/** There is no file to point at, but code scanning shows only results that name one. */
function standIn(tool: string): object {
  return {
    artifactLocation: { uri: `mcp/tools/${tool.replaceAll(/[^\w.-]/g, '_')}` },
    region: { startLine: 1 },
  };
}

function unclear(attack: Attack, findings: readonly Finding[]): object[] {
  return together(findings.filter(({ verdict }) => verdict === 'unclear')).map(({ finding }) => ({
    level: 'warning',
    message: { text: literal(finding.found) },
    associatedRule: { id: attack.id },
  }));
}

/** Braces and brackets are placeholders and links in messages of SARIF; a server's must not become one. */
function literal(text: string): string {
  return text.replaceAll(/[{}]/g, '$&$&').replaceAll(/[[\]\\]/g, String.raw`\$&`);
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
