import { ProtocolError } from '@modelcontextprotocol/client';
import { DriveLimit, RequestStateRefused, RetryNotTaken, RetryUnknown } from '../errors.js';
import { isObject } from './json.js';
import { hasNotLeft } from './not-left.js';
import type { SavedFlow } from './saved-flow.js';
import { scrub } from './scrub.js';
import { isTurnedAway, stopped, type Failed } from './send.js';

interface Retry {
  /** The flow, marked as sent. */
  readonly sent: SavedFlow;
  /** The flow as it can be gone on with when nothing was done. */
  readonly back: SavedFlow;
  readonly signal: AbortSignal;
}

/**
 * Numbers with which a server, or a proxy, says that it did not take a request up: its headers do not belong to it, a
 * capability is missing, the version is not spoken (basic/index, "Error Codes").
 */
const NOT_TAKEN = new Set([-32_020, -32_021, -32_022]);

/**
 * Reasons with which a server made with this library says that the same request may be sent again, and does nothing
 * twice then: its ledger gave no answer, or the round is still being worked on elsewhere.
 */
const SEND_AGAIN: ReadonlySet<unknown> = new Set(['unavailable', 'round_busy']);

/**
 * What an error of a retry is to the caller: what the server answered, that it was not taken up, or that nobody
 * knows. The flow that goes with it is what there is to go on with; an answer leaves none.
 */
export function retryFailure({ error, fate }: Failed, { sent, back, signal }: Retry): unknown {
  scrub(error, sent.requestState, '[requestState]');
  const round = sent.round + 1;
  if (fate === 'answered') return answered(error, sent, back);
  if (fate === 'unsent' && signal.aborted) return stopped(signal, back);
  if (fate === 'unsent' || hasNotLeft(error) || isTurnedAway(error)) {
    return new RetryNotTaken(round, back, { cause: error });
  }
  return new RetryUnknown(round, sent, { cause: signal.aborted ? whyStopped(signal) : error });
}

/** The limit that was reached, or the reason of who stopped it. */
function whyStopped(signal: AbortSignal): unknown {
  const why = stopped(signal);
  return why instanceof DriveLimit ? why : why.cause;
}

function answered(error: unknown, sent: SavedFlow, back: SavedFlow): unknown {
  if (!(error instanceof ProtocolError)) return error;
  const { code, data } = error;
  const round = sent.round + 1;
  const reason = isObject(data) ? data['reason'] : undefined;
  if (NOT_TAKEN.has(code) || SEND_AGAIN.has(reason)) return new RetryNotTaken(round, back, { cause: error });
  const isRefused = code === -32_602 && reason === 'invalid_request_state';
  return isRefused && sent.requestState !== undefined
    ? new RequestStateRefused(round, { cause: error })
    : error;
}
