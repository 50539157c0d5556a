import { ConfigurationError, ServerNotAllowed } from '../errors.js';
import type { Answer } from './answer.js';
import { isSameServer, type ServerIdentity } from './identity.js';
import type { Question, QuestionKind } from './question.js';
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

/** How far a call may go. Each has a default; `deadlineMs` and the lists allow everything. */
export interface DrivePolicy {
  /** Rounds of one call that may ask or end, the first included. A result in the last one counts. Default 16. */
  readonly maxRounds?: number;
  /** Milliseconds from the first request to the end of the call, with all that people take to answer. */
  readonly deadlineMs?: number;
  /** Rounds that ask nothing and only want to be called again. */
  readonly stateOnly?: {
    /** Pause before the first one in a row is answered, in ms; doubled for each after it. Default 250. */
    readonly firstMs?: number;
    /** The longest pause, in ms. Default 5,000. */
    readonly maxMs?: number;
    /** Such rounds in one call. Default 256. They do not count among `maxRounds`. */
    readonly rounds?: number;
  };
  /** The same questions in a row at which the call is given up, whatever was answered. Default 3. */
  readonly repeats?: number;
  /** Questions in one round. Default 16. */
  readonly maxQuestions?: number;
  /** Kinds of questions that may be asked; those that have a handler by default. Others are not declared. */
  readonly kinds?: readonly QuestionKind[];
  /** Servers that may be driven, by address (the principal does not matter). All by default. */
  readonly servers?: readonly ServerIdentity[];
  /**
   * Called before each retry. It may stop the call, by `'stop'` or by throwing; what it gets is a frozen copy, so it
   * cannot change what is sent.
   */
  readonly beforeRetry?: (preview: RetryPreview) => Promise<'stop' | void> | 'stop' | void;
}

/** A policy with its defaults. */
export interface FullPolicy {
  readonly maxRounds: number;
  readonly deadlineMs: number | undefined;
  readonly stateOnly: { readonly firstMs: number; readonly maxMs: number; readonly rounds: number };
  readonly repeats: number;
  readonly maxQuestions: number;
  readonly kinds: ReadonlySet<QuestionKind>;
  readonly beforeRetry: NonNullable<DrivePolicy['beforeRetry']>;
}

/**
 * @throws ConfigurationError when a bound is not a positive whole number.
 * @throws ServerNotAllowed when this server may not be driven.
 */
export function fullPolicy(
  policy: DrivePolicy,
  answerable: readonly QuestionKind[],
  server: ServerIdentity,
): FullPolicy {
  if (policy.servers?.every((allowed) => !isSameServer(allowed, server)) === true)
    throw new ServerNotAllowed();
  const bound = (name: string, value: number | undefined, preset: number): number => {
    if (value === undefined) return preset;
    if (Number.isSafeInteger(value) && value > 0) return value;
    throw new ConfigurationError(`policy.${name} must be a positive whole number.`);
  };
  const { stateOnly = {}, deadlineMs, kinds, beforeRetry } = policy;
  return {
    maxRounds: bound('maxRounds', policy.maxRounds, 16),
    deadlineMs: deadlineMs === undefined ? undefined : bound('deadlineMs', deadlineMs, 0),
    stateOnly: {
      firstMs: bound('stateOnly.firstMs', stateOnly.firstMs, 250),
      maxMs: bound('stateOnly.maxMs', stateOnly.maxMs, 5000),
      rounds: bound('stateOnly.rounds', stateOnly.rounds, 256),
    },
    repeats: bound('repeats', policy.repeats, 3),
    maxQuestions: bound('maxQuestions', policy.maxQuestions, 16),
    kinds: new Set(answerable.filter((kind) => kinds?.includes(kind) !== false)),
    beforeRetry: beforeRetry ?? (() => undefined),
  };
}
