import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import { ConfigurationError } from '../errors.js';
import { quoteName } from '../quote-name.js';
import { isDeeperThan, isObject, isTexts, jsonCopy, own } from './json.js';

/** The requests that may ask in the middle, each with its result (basic/patterns/mrtr, "Supported Requests"). */
export interface DrivenMethods {
  readonly 'tools/call': { readonly params: TargetByName; readonly result: CallToolResult };
  readonly 'prompts/get': {
    readonly params: TargetByName<string>;
    readonly result: GetPromptResult;
  };
  readonly 'resources/read': { readonly params: TargetByUri; readonly result: ReadResourceResult };
}

/** A tool or a prompt, and its arguments. */
export interface TargetByName<V = unknown> {
  readonly name: string;
  readonly arguments?: { readonly [name: string]: V };
  readonly _meta?: { readonly [name: string]: unknown };
}

/** A resource. */
export interface TargetByUri {
  readonly uri: string;
  readonly _meta?: { readonly [name: string]: unknown };
}

/** A method that can be driven. */
export type DrivenMethod = keyof DrivenMethods;

/** A request to drive: its method, and its parameters without `requestState` and `inputResponses`. */
export type DrivenRequest<M extends DrivenMethod = DrivenMethod> = {
  readonly [K in M]: { readonly method: K; readonly params: DrivenMethods[K]['params'] };
}[M];

/** A request as a host gives it. Its arguments may be of any type of object, an interface too. */
export type GivenRequest<M extends DrivenMethod = DrivenMethod> = {
  readonly [K in M]: { readonly method: K; readonly params: GivenParams[K] };
}[M];

interface GivenParams {
  readonly 'tools/call': GivenByName;
  readonly 'prompts/get': GivenByName;
  readonly 'resources/read': TargetByUri;
}

interface GivenByName {
  readonly name: string;
  /** Those of a prompt are texts. */
  readonly arguments?: object | undefined;
  readonly _meta?: object | undefined;
}

/** What a driven request ends with. */
export type DrivenResult<M extends DrivenMethod = DrivenMethod> = DrivenMethods[M]['result'];

const MEMBERS: Readonly<Record<DrivenMethod, readonly string[]>> = {
  'tools/call': ['name', 'arguments', '_meta'],
  'prompts/get': ['name', 'arguments', '_meta'],
  'resources/read': ['uri', '_meta'],
};

/** What is wrong with a request, or nothing. */
export function requestFault(request: unknown): string | undefined {
  if (!isObject(request)) return 'is not an object';
  const method = own(request, 'method');
  if (typeof method !== 'string' || !Object.hasOwn(MEMBERS, method)) return 'has a method that cannot ask';
  const params = own(request, 'params');
  if (!isObject(params)) return 'has no params';
  const members = MEMBERS[method as DrivenMethod];
  const extra = Object.keys(params).find((name) => !members.includes(name));
  if (extra !== undefined) return `has a param ${quoteName(extra)} that is not the caller's to give`;
  if (typeof own(params, members[0] ?? '') !== 'string') return `has no params.${members[0]}`;
  for (const name of ['arguments', '_meta']) {
    const value = own(params, name);
    if (value !== undefined && !isObject(value)) return `has params.${name} that is not an object`;
  }
  if (method === 'prompts/get' && !isTexts(Object.values(own(params, 'arguments') ?? {}))) {
    return 'has params.arguments that are not all texts';
  }
  if (isDeeperThan(params, MAX_DEPTH))
    return `has params that nest deeper than ${MAX_DEPTH} levels, or in a circle`;
  return undefined;
}

/** More than any tool takes, and less than the stack of any engine. */
const MAX_DEPTH = 256;

/**
 * A copy of a request as it will travel in every round (MRTR-C-09).
 *
 * @throws ConfigurationError when it cannot be driven.
 */
export function plainRequest(request: GivenRequest): DrivenRequest {
  const fault = requestFault(request);
  if (fault !== undefined) throw new ConfigurationError(`The request ${fault}.`);
  try {
    return jsonCopy({ method: request.method, params: request.params }) as object as DrivenRequest;
  } catch (error) {
    throw new ConfigurationError('The request has params that cannot be written as JSON.', { cause: error });
  }
}
