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
  /** No answer that can be read, or an internal error: nothing can be said. */
  | { readonly kind: 'failed'; readonly why: string };

/** Codes that say "not me", rather than "not so". */
const INTERNAL_ERROR = -32_603;

/** Reads a reply. */
export function outcomeOf(reply: WireReply): Outcome {
  const { failure, error, result, status } = reply;
  if (failure !== undefined) return { kind: 'failed', why: failure };
  if (error !== undefined)
    return error.code === INTERNAL_ERROR
      ? { kind: 'failed', why: 'an internal error (-32603)' }
      : { kind: 'refused', code: error.code, status };
  if (result === undefined)
    return status !== undefined && status >= 400 && status < 500
      ? { kind: 'refused', code: undefined, status }
      : { kind: 'failed', why: 'no response' };
  if (result['resultType'] === 'input_required') return asked(result);
  if (result['resultType'] === 'task') return { kind: 'task' };
  return result['isError'] === true ? { kind: 'tool-error' } : { kind: 'done', result };
}

function asked(result: JsonObject): Outcome {
  const { requestState, inputRequests } = result;
  return {
    kind: 'asked',
    state: typeof requestState === 'string' ? requestState : undefined,
    keys: typeof inputRequests === 'object' && inputRequests !== null ? Object.keys(inputRequests) : [],
  };
}
