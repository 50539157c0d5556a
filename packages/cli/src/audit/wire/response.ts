import type { Json, JsonObject, WireReply } from './message.js';

/** What of a reply a JSON-RPC response gives. */
export type Response = Pick<WireReply, 'result' | 'error' | 'failure'>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Levels of a message. No honest one has as many, and whoever walks through it may do so by recursion. */
const MOST_LEVELS = 200;

/** Parses JSON; undefined for what is none, and for what is nested deeper than anything honest. */
export function parse(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Whether a value has more levels than may be walked through; looks without recursion. */
export function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= MOST_LEVELS; depth += 1) {
    level = level.flatMap((each): unknown[] =>
      typeof each === 'object' && each !== null && !ArrayBuffer.isView(each) ? Object.values(each) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}

/** The method of a message that the server sends and wants to be answered: it must not send any (MRTR-S-01). */
export function methodOfRequest(message: JsonObject): string | undefined {
  const { method, id } = message;
  return typeof method === 'string' && id !== undefined ? method : undefined;
}

/** Whether a message is the response to a request: by its id, or an error that could not be given one. */
export function isResponseTo(id: number, message: JsonObject): boolean {
  if (message['method'] !== undefined) return false;
  return message['id'] === id || (isObject(message['error']) && (message['id'] ?? null) === null);
}

/** Reads a response. What is none of JSON-RPC's two kinds is a failure. */
export function readResponse(message: JsonObject): Response {
  const { error, result } = message;
  if (isObject(error)) {
    const { code, message: words, data } = error;
    if (typeof code !== 'number') return { failure: 'an error without a code' };
    return {
      error: { code, message: typeof words === 'string' ? words : '', ...(data !== undefined && { data }) },
    };
  }
  return isObject(result) ? { result } : { failure: 'a response with neither a result nor an error' };
}
