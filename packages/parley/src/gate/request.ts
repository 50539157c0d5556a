import {
  ProtocolError,
  ProtocolErrorCode,
  type InputRequests,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { KeyedQuestion } from '../flow/index.js';
import { canonicalJson, encodeBase64url, sha256 } from '../seal/index.js';
import type { GatedMethod } from './events.js';

/** A handler of the SDK, as it stands behind `setRequestHandler`: it may throw at once, and answer at once. */
export type SdkHandler = (request: GatedRequest, ctx: ServerContext) => Result | Promise<Result>;

/** The parts of the three requests that are looked at here. */
export interface GatedRequest {
  readonly params?:
    { readonly name?: unknown; readonly uri?: unknown; readonly arguments?: unknown } | undefined;
}

/** Answers that nest deeper are digested as they were sent. */
const MAX_ANSWER_DEPTH = 64;

/** What the request is for, by its method: a member that the method does not define binds nothing. */
export function targetOf(method: GatedMethod, { params }: GatedRequest): string {
  const target: unknown = method === 'resources/read' ? params?.uri : params?.name;
  if (typeof target !== 'string')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${method} names nothing`);
  return target;
}

/**
 * Digest of the answers of one round, the same for whatever order a client sends members in. The round goes in too:
 * there are few answers to a yes-or-no question, and the ledger's store must not tell which it was.
 */
export function answersDigest(flow: string, round: number, answers: Record<string, unknown>): string {
  let text: string;
  try {
    text = canonicalJson({ ...answers }, MAX_ANSWER_DEPTH);
  } catch {
    text = JSON.stringify(answers); // a lone surrogate, or deeper: as it was sent
  }
  return encodeBase64url(sha256(`parley/v1 answers\0${flow} ${round} ${text}`));
}

/** Questions as they go out: bare requests under their keys (CORE-07). */
export function asInputRequests(questions: readonly KeyedQuestion[]): InputRequests {
  const entries = questions.map(
    ({ key, question: { method, params } }) => [key, { method, params }] as const,
  );
  return Object.fromEntries(entries) as unknown as InputRequests;
}
