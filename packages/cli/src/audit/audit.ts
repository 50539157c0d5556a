import { Ended, EXIT } from '../outcome.js';
import { harmlessLine } from '../safe-text.js';
import type { Attack, HonestRun } from './attack.js';
import { contextOf, driveHonestly, groundOf, type Ground, type Subject } from './context.js';
import { Envelope } from './honest/envelope.js';
import { MOST_ROUNDS } from './honest/honest-run.js';
import { readListing } from './honest/listing.js';
import type { AuditReport } from './report/report.js';
import { runAttacks, type RunOptions } from './run-attacks.js';
import { GuardedWire } from './wire/guarded-wire.js';
import type { Wire } from './wire/message.js';

/** A whole audit. */
export interface AuditOptions extends Pick<RunOptions, 'attacks' | 'attackMs' | 'signal' | 'onAttack'> {
  /** The target's name before people, without secrets. */
  readonly target: string;
  /** The way to it; it is left open. */
  readonly wire: Wire;
  readonly subject: Subject;
  /** Version of the audit itself. */
  readonly version: string;
  /** Told when the flow was driven honestly, before the attacks begin. */
  readonly onHonest?: (honest: HonestRun) => void;
}

/**
 * Drives a tool's flow honestly, and then attacks it.
 *
 * @throws Ended when there is no such flow to be attacked, and the signal's reason.
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { target, subject, version, signal, attacks, attackMs, onAttack, onHonest } = options;
  const startedAt = new Date();
  const began = performance.now();
  const wire = new GuardedWire(options.wire, signal);
  const envelope = new Envelope(version);
  const listing = await readListing(wire, envelope);
  const ground = groundOf(envelope, subject, listing);
  if (!listing.tools.some(({ name }) => name === subject.tool)) throw noSuchTool(ground);
  const honest = await driveHonestly(ground, wire);
  refuseUnfit(ground, honest);
  onHonest?.(honest);
  const results = await runAttacks({
    attacks,
    // A program serves one caller: what one attack does to it, the others beside it would have to bear.
    ...(wire.kind === 'stdio' && { atOnce: 1 }),
    contextFor: (end) => contextOf(ground, new GuardedWire(wire, end), honest),
    ...(attackMs !== undefined && { attackMs }),
    ...(subject.waitMs !== undefined && { waitMs: subject.waitMs }),
    ...(signal !== undefined && { signal }),
    ...(onAttack !== undefined && { onAttack }),
  });
  return {
    target,
    tool: subject.tool,
    startedAt: startedAt.toISOString(),
    seconds: Math.round(performance.now() - began) / 1000,
    rounds: honest.pauses.length,
    requests: wire.sent,
    results,
  };
}

/** Attacks of these ids, in the order of the list. */
export function attacksOf(all: readonly Attack[], ids: readonly string[]): Attack[] {
  return ids.length === 0 ? [...all] : all.filter(({ id }) => ids.includes(id));
}

function noSuchTool({ subject, listing }: Ground): Ended {
  const names = listing.tools.slice(0, 20).map(({ name }) => harmlessLine(name).slice(0, 80));
  const there = names.length === 0 ? 'It lists none.' : `It has: ${names.join(', ')}.`;
  return new Ended(EXIT.failed, `The target has no tool ${harmlessLine(subject.tool)}. ${there}`);
}

/** Without a question there is nothing to attack. */
function refuseUnfit({ tool }: Ground, { pauses, last }: HonestRun): void {
  const { outcome, reply } = last;
  const name = harmlessLine(tool.name);
  if (pauses.length > 0) return;
  const hint = 'Give it arguments and answers that it takes: --json, --answers, --as.';
  const said = harmlessLine(reply.error?.message ?? '').slice(0, 200);
  switch (outcome.kind) {
    case 'failed':
      throw new Ended(EXIT.failed, `${name} does not answer: ${outcome.why}.`);
    case 'refused': {
      const what = outcome.code === undefined ? `HTTP ${outcome.status ?? ''}` : `error ${outcome.code}`;
      throw new Ended(EXIT.failed, `${name} refuses the first call (${what}${said && `: ${said}`}). ${hint}`);
    }
    case 'tool-error':
      throw new Ended(EXIT.failed, `${name} reports an error at the first call. ${hint}`);
    case 'task':
      throw new Ended(EXIT.failed, `${name} becomes a task before it asks: it has no states to be audited.`);
    case 'done':
      throw new Ended(EXIT.failed, `${name} asks nothing: there is no flow to be audited.`);
    case 'asked':
  }
}

/** Whether the honest run came to an end; where it did not, attacks on its last rounds say little. */
export function unfinished({ pauses, last }: HonestRun): string | undefined {
  const { outcome } = last;
  if (outcome.kind === 'done') return undefined;
  if (outcome.kind === 'asked') {
    return pauses.length >= MOST_ROUNDS
      ? `The flow still asks after ${MOST_ROUNDS} rounds.`
      : 'The flow asks without a question and without a state.';
  }
  const kinds = {
    refused: 'a refusal',
    'tool-error': "the tool's error",
    task: 'a task',
    failed: 'a failure',
  };
  return `The flow driven honestly ends in ${kinds[outcome.kind]} after round ${pauses.length}. Its answers may be wrong: --answers.`;
}
