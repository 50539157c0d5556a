import type { JsonObject, WireReply } from './wire/message.js';

/** What a reply amounts to. */
export type Outcome =
  /** An error of JSON-RPC, or a status that refuses. */
  | { readonly kind: 'refused'; readonly code: number | undefined; readonly status: number | undefined }
  /** The tool says that it failed (`isError`). */
  | { readonly kind: 'tool-error' }
  /** The server asks: again, or further. */
  | { readonly kind: 'asked'; readonly state: string | undefined; readonly keys: readonly string[] }
  /** The flow is done. */
  | { readonly kind: 'done'; readonly result: JsonObject }
  /** It became a task. */
  | { readonly kind: 'task' }
  /** An internal error of the server's (`isInternal`), or no answer to this request at all: nothing can be said. */
  | { readonly kind: 'failed'; readonly why: string; readonly isInternal: boolean };

/** Says "not me", rather than "not so". */
const INTERNAL_ERROR = -32_603;

/** Statuses that say "not now": nothing was judged. */
const NOT_NOW = new Set([408, 429, 502, 503, 504]);

/** More questions than anybody answers at a time. */
const MOST_QUESTIONS = 200;

/** Reads a reply. */
export function outcomeOf(reply: WireReply): Outcome {
  const { failure, error, result, status } = reply;
  if (status !== undefined && NOT_NOW.has(status)) return failed(`HTTP status ${status}`);
  if (error !== undefined)
    return error.code === INTERNAL_ERROR
      ? failed('an internal error (-32603)', true)
      : { kind: 'refused', code: error.code, status };
  if (status !== undefined && status >= 500) return failed(`HTTP status ${status}`, true);
  if (failure !== undefined) return failed(failure);
  if (result === undefined)
    return status !== undefined && status >= 400
      ? { kind: 'refused', code: undefined, status }
      : failed('no response');
  if (result['resultType'] === 'input_required') return asked(result);
  if (result['resultType'] === 'task') return { kind: 'task' };
  return result['isError'] === true ? { kind: 'tool-error' } : { kind: 'done', result };
}

function asked(result: JsonObject): Outcome {
  const { requestState, inputRequests } = result;
  const keys = typeof inputRequests === 'object' && inputRequests !== null ? Object.keys(inputRequests) : [];
  if (keys.length > MOST_QUESTIONS) return failed(`more than ${MOST_QUESTIONS} questions in one result`);
  return { kind: 'asked', state: typeof requestState === 'string' ? requestState : undefined, keys };
}

function failed(why: string, isInternal = false): Outcome {
  return { kind: 'failed', why, isInternal };
}
