import type { Attack, HonestRun, Severity } from './audit/attack.js';
import { audit, unfinished } from './audit/audit.js';
import { readCallers, type CallerOptions } from './audit/callers.js';
import type { Subject } from './audit/context.js';
import { readAnswers } from './audit/honest/answers.js';
import { auditProgress } from './audit/progress.js';
import { without, withoutHidden } from './audit/report/redact.js';
import { above, type AuditReport, type ReportOptions } from './audit/report/report.js';
import { terminalReport } from './audit/report/terminal.js';
import { checkReportFiles, writeReports } from './audit/report/write-report.js';
import type { Json, JsonObject } from './audit/wire/message.js';
import { openWire } from './audit/wire/open-wire.js';
import type { CallIo } from './call-io.js';
import { hasColors } from './colors.js';
import { nameOf, type Target } from './connect/target.js';
import type { JsonObject as Given } from './json-input.js';
import { Ended, EXIT, EXIT_BY_SIGNAL, Signalled } from './outcome.js';
import { harmlessLine } from './safe-text.js';

/** What an audit needs of its surroundings. */
export type AuditIo = Pick<
  CallIo,
  'version' | 'env' | 'out' | 'err' | 'isTerminal' | 'screen' | 'readStdin' | 'onStop'
>;

/** Options of an audit, as they are typed. */
export interface AuditSettings extends CallerOptions {
  readonly answers?: string;
  readonly prompt?: string;
  readonly probe?: string;
  /** In ms. */
  readonly wait?: number;
  readonly report?: readonly string[];
  readonly showValues?: true;
  /** In ms. */
  readonly timeout: number;
}

/** What is to be audited. */
export interface AuditJob {
  readonly target: Target;
  readonly tool: string;
  readonly failOn: Severity;
  readonly attacks: readonly Attack[];
  readonly args: Given | undefined;
  readonly probeArguments: Given | undefined;
}

/**
 * Audits, prints the report to stdout, and writes it to files.
 *
 * @throws WrongUse before anything is called; Ended when it could not be done, and for findings that fail it.
 */
export async function runAudit(job: AuditJob, settings: AuditSettings, io: AuditIo): Promise<void> {
  const { target, tool, attacks, failOn } = job;
  const { report: files = [], timeout, showValues } = settings;
  const callers = readCallers(settings, target, io.env);
  const subject = await subjectOf(job, settings, callers.known);
  await checkReportFiles(files);
  const stop = new AbortController();
  const ignoreSignals = io.onStop((each) => stop.abort(new Signalled(each)));
  const wire = openWire(target, {
    callers: callers.headers,
    env: io.env,
    timeoutMs: timeout,
    signal: stop.signal,
  });
  const progress = auditProgress(io.screen);
  io.err(warning(tool, attacks, settings));
  let answers: readonly string[] = [];
  let report: AuditReport;
  try {
    progress.say('Driving the flow honestly');
    report = await audit({
      target: nameOf(target),
      wire,
      subject,
      attacks,
      version: io.version,
      signal: stop.signal,
      onHonest: (honest) => {
        answers = answersIn(honest);
        const doubt = unfinished(honest);
        if (doubt === undefined) return;
        progress.done();
        io.err(`parley: ${doubt}\n`);
      },
      onAttack: ({ id }, nth, of) => progress.say(`Attack ${nth} of ${of}: ${id}`),
    });
  } catch (error) {
    const { reason } = stop.signal as { reason: unknown };
    if (reason instanceof Signalled) throw new Ended(EXIT_BY_SIGNAL[reason.signal], reason.message);
    // The target's own words may stand in it.
    throw error instanceof Ended ? new Ended(error.exitCode, without(error.message, callers.secrets)) : error;
  } finally {
    progress.done();
    ignoreSignals();
    await wire.close();
  }
  const options: ReportOptions = {
    showValues: showValues === true,
    hide: [...callers.secrets, ...(showValues === true ? [] : answers)],
    print: (request) => wire.print(request),
    version: io.version,
  };
  const shown = withoutHidden(report, options);
  io.out(terminalReport(shown, { colors: hasColors(io), columns: io.screen?.columns || 80 }));
  await writeReports(shown, files, options);
  const failing = above(shown, failOn).length;
  if (failing > 0) {
    const words = failing === 1 ? '1 finding is' : `${failing} findings are`;
    throw new Ended(EXIT.failed, `${words} ${failOn} or worse (--fail-on).`);
  }
}

async function subjectOf(
  { tool, args, probeArguments = {} }: AuditJob,
  { answers, prompt, probe, wait }: AuditSettings,
  callers: Subject['callers'],
): Promise<Subject> {
  return {
    tool,
    callers,
    // It is JSON: it was parsed.
    ...(args !== undefined && { arguments: args as JsonObject }),
    ...(answers !== undefined && { answers: await readAnswers(answers) }),
    ...(prompt !== undefined && { prompt }),
    ...(probe !== undefined && { probe: { tool: probe, arguments: probeArguments as JsonObject } }),
    ...(wait !== undefined && { waitMs: wait }),
  };
}

function warning(tool: string, attacks: readonly Attack[], { wait }: AuditSettings): string {
  const many = attacks.length === 1 ? '1 attack calls' : `${attacks.length} attacks call`;
  // Measured: thirty requests an attack for three rounds, and seven for one.
  const most = Math.max(100, attacks.length * 30);
  const waits = wait !== undefined && attacks.some(({ id }) => id === 'no-expiry');
  return (
    `parley: ${many} ${harmlessLine(tool)} for real, about ${most} times if it asks three times, and answers it.` +
    `${waits ? ` One waits ${Math.round(wait / 1000)} s.` : ''} Ctrl-C stops it.\n`
  );
}

/** Texts that were answered with: no report is to quote them. */
function answersIn({ pauses }: HonestRun): string[] {
  const texts: string[] = [];
  const collect = (value: Json): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  for (const { answers } of pauses) Object.values(answers).forEach(({ content = null }) => collect(content));
  return texts;
}
