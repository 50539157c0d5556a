import { SEVERITIES, type Attack, type Finding, type Severity, type Verdict } from '../attack.js';
import type { WireRequest } from '../wire/message.js';

/** An attack and what it found. */
export interface AttackResult {
  readonly attack: Attack;
  readonly findings: readonly Finding[];
  readonly ms: number;
}

/** A whole audit. */
export interface AuditReport {
  /** The target's name before people, without secrets. */
  readonly target: string;
  readonly tool: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  /** Rounds of the honest run. */
  readonly rounds: number;
  readonly requests: number;
  readonly results: readonly AttackResult[];
}

/** What of an audit may be shown, and how. */
export interface ReportOptions {
  /** Shows states and answers in full. Never header values. */
  readonly showValues?: boolean;
  /** Texts that are not shown wherever they appear: answers that were given, values of headers. */
  readonly hide?: readonly string[];
  /** What can be sent by hand to see a request again; {@link Wire.print}. It is given redacted requests. */
  readonly print?: (request: WireRequest) => string;
  /** Of this package. */
  readonly version?: string;
}

/** A finding of an attack, with what it counts. */
export interface Fault {
  readonly attack: Attack;
  readonly finding: Finding;
  readonly severity: Severity;
}

/** How heavy a severity is, from 0. */
export function weightOf(severity: Severity): number {
  return SEVERITIES.indexOf(severity);
}

/** What a finding counts; undefined for one that is no fault. `weak` counts at most what `broken` would. */
export function severityOf(attack: Attack, { verdict, severity }: Finding): Severity | undefined {
  if (verdict === 'broken') return severity ?? attack.severity;
  if (verdict !== 'weak') return undefined;
  const claimed = severity ?? 'low';
  return weightOf(claimed) > weightOf(attack.severity) ? attack.severity : claimed;
}

/** Weak and broken findings, worst first, notes last; otherwise in the order of the attacks. */
export function faultsOf(report: AuditReport): Fault[] {
  return report.results
    .flatMap(({ attack, findings }) =>
      findings.flatMap((finding): Fault[] => {
        const severity = severityOf(attack, finding);
        return severity === undefined ? [] : [{ attack, finding, severity }];
      }),
    )
    .toSorted(
      (a, b) =>
        weightOf(b.severity) - weightOf(a.severity) ||
        Number(b.finding.verdict === 'broken') - Number(a.finding.verdict === 'broken'),
    );
}

/** The worst severity of one attack; undefined when it found no fault. */
export function worstIn({ attack, findings }: AttackResult): Severity | undefined {
  return findings.reduce<Severity | undefined>((worst, finding) => {
    const severity = severityOf(attack, finding);
    if (severity === undefined) return worst;
    return worst === undefined || weightOf(severity) > weightOf(worst) ? severity : worst;
  }, undefined);
}

/** The worst severity that was found; undefined when nothing was. */
export function worstOf(report: AuditReport): Severity | undefined {
  return faultsOf(report)[0]?.severity;
}

/** The faults at a severity or above it, worst first. */
export function above(report: AuditReport, severity: Severity): Fault[] {
  return faultsOf(report).filter((fault) => weightOf(fault.severity) >= weightOf(severity));
}

/** From the best to the worst for who reads; `not-applicable` says least. */
const ORDER: readonly Verdict[] = ['not-applicable', 'safe', 'unclear', 'weak', 'broken'];

/** What an attack came to over all rounds: the worst of its findings. Without any it is `not-applicable`. */
export function verdictOf({ findings }: AttackResult): Verdict {
  return findings.reduce<Verdict>(
    (worst, { verdict }) => (ORDER.indexOf(verdict) > ORDER.indexOf(worst) ? verdict : worst),
    'not-applicable',
  );
}

/** Findings that say the same of several rounds, taken together. */
export interface Together {
  readonly finding: Finding;
  /** In their order, each once; empty for what is said of no round. */
  readonly rounds: readonly number[];
}

/** Takes together what differs by its round only. The evidence is that of the first. */
export function together(findings: readonly Finding[]): Together[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.verdict, finding.severity, finding.found]);
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].flatMap((group) => {
    const [finding] = group;
    return finding === undefined ? [] : [{ finding, rounds: roundsOf(group) }];
  });
}

/** `round 2`, `rounds 1, 3`, or nothing. */
export function roundsText(rounds: readonly number[]): string {
  if (rounds.length === 0) return '';
  return `${rounds.length === 1 ? 'round' : 'rounds'} ${rounds.join(', ')}`;
}

/** Faults that say the same of several rounds, taken together. */
export interface FaultGroup extends Fault {
  readonly rounds: readonly number[];
}

/** {@link faultsOf}, with those that differ by their round only taken together. */
export function faultGroups(report: AuditReport): FaultGroup[] {
  const groups = new Map<string, Fault[]>();
  for (const fault of faultsOf(report)) {
    const { attack, severity, finding } = fault;
    const key = JSON.stringify([attack.id, severity, finding.verdict, finding.found]);
    groups.set(key, [...(groups.get(key) ?? []), fault]);
  }
  return [...groups.values()].flatMap((group) => {
    const [fault] = group;
    return fault === undefined ? [] : [{ ...fault, rounds: roundsOf(group.map(({ finding }) => finding)) }];
  });
}

function roundsOf(findings: readonly Finding[]): number[] {
  const rounds = new Set(findings.flatMap(({ round }) => (round === undefined ? [] : [round])));
  return [...rounds].toSorted((a, b) => a - b);
}
