import {
  ProtocolError,
  ProtocolErrorCode,
  type InputRequests,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { KeyedQuestion } from '../flow/index.js';
import { encodeBase64url, sha256 } from '../seal/index.js';
import type { GatedMethod } from './events.js';

/** A handler of the SDK, as it stands behind `setRequestHandler`. */
export type SdkHandler = (request: GatedRequest, ctx: ServerContext) => Promise<Result>;

/** The parts of the three requests that are looked at here. */
export interface GatedRequest {
  readonly params?:
    { readonly name?: unknown; readonly uri?: unknown; readonly arguments?: unknown } | undefined;
}

/** What the request is for, by its method: a member that the method does not define binds nothing. */
export function targetOf(method: GatedMethod, { params }: GatedRequest): string {
  const target: unknown = method === 'resources/read' ? params?.uri : params?.name;
  if (typeof target !== 'string')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${method} names nothing`);
  return target;
}

/** One text for one set of answers, whatever the order in which a client sends them. */
export function answersDigest(answers: Record<string, unknown>): string {
  const sorted = Object.entries(answers).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return encodeBase64url(sha256(JSON.stringify(sorted)));
}

/** Questions as they go out: bare requests under their keys (CORE-07). */
export function asInputRequests(questions: readonly KeyedQuestion[]): InputRequests {
  const entries = questions.map(
    ({ key, question: { method, params } }) => [key, { method, params }] as const,
  );
  return Object.fromEntries(entries) as unknown as InputRequests;
}
