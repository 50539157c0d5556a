import { ConfigurationError, ServerNotAllowed } from '../errors.js';
import type { Answer } from './answer.js';
import { bound } from './bounds.js';
import { identityFault, isSameServer, type ServerIdentity } from './identity.js';
import { QUESTION_KINDS, type Question, type QuestionKind } from './question.js';
import type { DrivenRequest } from './request.js';

/** What is about to be sent, for a look. Frozen, and without the state. */
export interface RetryPreview {
  readonly server: ServerIdentity;
  readonly request: DrivenRequest;
  /** Requests that were sent and answered so far. */
  readonly round: number;
  readonly questions: readonly Question[];
  /** The answers with their keys, in the order of the questions. */
  readonly answers: readonly (readonly [key: string, answer: Answer])[];
}

/** How far a call that has become a task may go. */
export interface TaskPolicy {
  /**
   * Milliseconds that the server may take at a stretch: from the beginning, the resuming, or the last answer, to the
   * next question or the end. Default 24 h.
   */
  readonly maxWaitMs?: number | undefined;
  /** Requests about the task in a row that may fail for want of an answer, before it is given up. Default 8. */
  readonly failures?: number | undefined;
  /** Looks in a row at which the task may ask nothing but what was answered, before it is given up. Default 20. */
  readonly stalePolls?: number | undefined;
  /**
   * What becomes of the task when the signal aborts, or `deadlineMs` or `maxWaitMs` is over. `cancel` (the default)
   * asks the server to stop it. `leave` lets it run, for who resumes the saved flow.
   */
  readonly whenStopped?: 'cancel' | 'leave' | undefined;
}

/** How far a call may go. Each has a default; `deadlineMs` and the lists allow everything. */
export interface DrivePolicy {
  /** Rounds of one call that may ask or end, the first included. A result in the last one counts. Default 16. */
  readonly maxRounds?: number | undefined;
  /** Milliseconds from the first request to the end of the call, with all that people take to answer. */
  readonly deadlineMs?: number | undefined;
  /** Rounds that ask nothing and only want to be called again. */
  readonly stateOnly?:
    | {
        /** Pause before the first one in a row is answered, in ms; doubled for each after it. Default 250. */
        readonly firstMs?: number | undefined;
        /** The longest pause, in ms. Default 5,000. */
        readonly maxMs?: number | undefined;
        /** Such rounds in one call. Default 256. They do not count among `maxRounds`. */
        readonly rounds?: number | undefined;
      }
    | undefined;
  /** The same questions in a row at which the call is given up, whatever was answered. Default 3. */
  readonly repeats?: number | undefined;
  /** Questions in one round. Default 16. */
  readonly maxQuestions?: number | undefined;
  /** Of a call that has become a task. */
  readonly task?: TaskPolicy | undefined;
  /** Kinds of questions that may be asked; those that have a handler by default. Others are not declared. */
  readonly kinds?: readonly QuestionKind[] | undefined;
  /** Servers that may be driven, by address (the principal does not matter). All by default. */
  readonly servers?: readonly ServerIdentity[] | undefined;
  /**
   * Called before each retry. It may stop the call, by `'stop'` or by throwing; what it gets is a frozen copy, so it
   * cannot change what is sent.
   */
  readonly beforeRetry?: ((preview: RetryPreview) => Promise<'stop' | void> | 'stop' | void) | undefined;
}

/** A policy with its defaults. */
export interface FullPolicy {
  readonly maxRounds: number;
  readonly deadlineMs: number | undefined;
  readonly stateOnly: { readonly firstMs: number; readonly maxMs: number; readonly rounds: number };
  readonly repeats: number;
  readonly maxQuestions: number;
  readonly task: { readonly [K in keyof TaskPolicy]-?: NonNullable<TaskPolicy[K]> };
  readonly kinds: ReadonlySet<QuestionKind>;
  readonly beforeRetry: NonNullable<DrivePolicy['beforeRetry']>;
}

const DAY_MS = 86_400_000;

/**
 * @throws ConfigurationError when a bound is not a positive whole number, or a list holds what it cannot.
 * @throws ServerNotAllowed when this server may not be driven.
 */
export function fullPolicy(
  policy: DrivePolicy,
  answerable: readonly QuestionKind[],
  server: ServerIdentity,
): FullPolicy {
  requireListed(policy, server);
  const { stateOnly = {}, task = {}, deadlineMs, kinds, beforeRetry = () => undefined } = policy;
  const { whenStopped = 'cancel' } = task;
  if (whenStopped !== 'cancel' && whenStopped !== 'leave') {
    throw new ConfigurationError(`policy.task.whenStopped must be 'cancel' or 'leave'.`);
  }
  if (
    kinds !== undefined &&
    !(Array.isArray(kinds) && kinds.every((kind) => QUESTION_KINDS.includes(kind)))
  ) {
    throw new ConfigurationError(`policy.kinds may list ${QUESTION_KINDS.join(', ')}.`);
  }
  if (typeof beforeRetry !== 'function')
    throw new ConfigurationError('policy.beforeRetry must be a function.');
  const of = (name: string, value: number): number => bound(`policy.${name}`, value);
  return {
    maxRounds: of('maxRounds', policy.maxRounds ?? 16),
    deadlineMs: deadlineMs === undefined ? undefined : of('deadlineMs', deadlineMs),
    stateOnly: {
      firstMs: of('stateOnly.firstMs', stateOnly.firstMs ?? 250),
      maxMs: of('stateOnly.maxMs', stateOnly.maxMs ?? 5000),
      rounds: of('stateOnly.rounds', stateOnly.rounds ?? 256),
    },
    repeats: of('repeats', policy.repeats ?? 3),
    maxQuestions: of('maxQuestions', policy.maxQuestions ?? 16),
    task: {
      maxWaitMs: of('task.maxWaitMs', task.maxWaitMs ?? DAY_MS),
      failures: of('task.failures', task.failures ?? 8),
      stalePolls: of('task.stalePolls', task.stalePolls ?? 20),
      whenStopped,
    },
    kinds: new Set(answerable.filter((kind) => kinds?.includes(kind) !== false)),
    beforeRetry,
  };
}

function requireListed({ servers }: DrivePolicy, server: ServerIdentity): void {
  if (servers === undefined) return;
  if (!Array.isArray(servers)) throw new ConfigurationError('policy.servers must be a list.');
  for (const [index, allowed] of servers.entries()) {
    const fault = identityFault(allowed);
    if (fault !== undefined) throw new ConfigurationError(`policy.servers[${index}] ${fault}.`);
  }
  if (servers.every((allowed) => !isSameServer(allowed, server))) throw new ServerNotAllowed();
}
