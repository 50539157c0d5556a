import type { RequestIdentity } from 'mcp-parley/inspect';
import { isJsonObject, type JsonObject } from '../json-input.js';

/** A state that was found in a text. */
export interface Found {
  /** The state as it stands there; whatever JSON has under `requestState`. */
  readonly state: unknown;
  /** The request that stands beside it, in a JSON-RPC request or a saved flow. */
  readonly request?: RequestIdentity;
}

/**
 * Finds a state in what people have at hand: the token alone, a JSON-RPC response or request, a result, a saved flow,
 * or the event stream in which a response came.
 *
 * @returns undefined when there is JSON, and no `requestState` in it.
 */
export function findState(text: string): Found | undefined {
  const trimmed = text.trim();
  for (const value of [parse(trimmed), ...events(trimmed)]) {
    if (typeof value === 'string') return { state: value };
    const found = isJsonObject(value) ? inObject(value) : undefined;
    if (found !== undefined) return found;
  }
  return looksLikeJson(trimmed) ? undefined : { state: trimmed };
}

/**
 * Takes the state out of a saved flow.
 *
 * @returns undefined when the text is no saved flow, or one without a state.
 */
export function stateOfFlow(text: string): Found | undefined {
  const flow = parse(text);
  return isJsonObject(flow) && flow['format'] === 'parley-flow' ? inObject(flow) : undefined;
}

function inObject(value: JsonObject): Found | undefined {
  const holder = [value, value['result'], value['params']]
    .filter(isJsonObject)
    .find((each) => Object.hasOwn(each, 'requestState'));
  if (holder === undefined) return undefined;
  const request = requestOf(isJsonObject(value['request']) ? value['request'] : value);
  return { state: holder['requestState'], ...(request !== undefined && { request }) };
}

/** As a server would read it. */
function requestOf({ method, params }: JsonObject): RequestIdentity | undefined {
  if (typeof method !== 'string' || !isJsonObject(params)) return undefined;
  const target = params['name'] ?? params['uri'];
  return typeof target === 'string' ? { method, target, arguments: params['arguments'] } : undefined;
}

/** The data of server-sent events, if the text is a stream of them. */
function events(text: string): unknown[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((event) => [...event.matchAll(/^data: ?([^\r\n]*)/gm)].map(([, line]) => line).join('\n'))
    .map(parse);
}

function looksLikeJson(text: string): boolean {
  return /^[[{"]|^(?:data|event|id|retry):/.test(text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
