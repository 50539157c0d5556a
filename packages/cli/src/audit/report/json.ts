import { harmlessJson } from '../../output/json.js';
import { redact } from './redact.js';
import { severityOf, verdictOf, worstOf, type AuditReport, type ReportOptions } from './report.js';
import { summaryOf } from './summary.js';

/** The name of the format and its version; members may be added to it without a new one. See docs/audit.md. */
const FORMAT = 'parley-audit/1';

/** The report as JSON, without states and answers unless they are asked for. */
export function jsonReport(report: AuditReport, options: ReportOptions = {}): string {
  const { target, tool, startedAt, seconds, rounds, requests, results } = report;
  const { headline, details } = summaryOf(report);
  return `${harmlessJson({
    format: FORMAT,
    target,
    tool,
    startedAt,
    seconds,
    rounds,
    requests,
    worst: worstOf(report) ?? null,
    summary: [headline, ...details],
    attacks: results.map((result) => ({
      id: result.attack.id,
      title: result.attack.title,
      rule: result.attack.rule,
      severity: result.attack.severity,
      verdict: verdictOf(result),
      sends: result.attack.sends,
      safe: result.attack.safe,
      fix: result.attack.fix,
      ms: Math.round(result.ms),
      findings: result.findings.map((finding) => ({
        verdict: finding.verdict,
        severity: severityOf(result.attack, finding) ?? null,
        round: finding.round ?? null,
        found: finding.found,
        evidence: finding.evidence === undefined ? null : redact(finding.evidence, options),
      })),
    })),
  })}\n`;
}
