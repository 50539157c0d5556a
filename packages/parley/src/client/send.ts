import {
  isInputRequiredResult,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type CallToolRequest,
  type Client,
  type ClientCapabilities,
  type InputResponses,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import {
  CallStopped,
  ConfigurationError,
  InvalidResponse,
  ParleyError,
  RequestStateRefused,
  RetryUnknown,
} from '../errors.js';
import { reasonOf } from './clock.js';
import { isObject } from './json.js';
import type { DrivenRequest, DrivenResult } from './request.js';
import type { SavedFlow } from './saved-flow.js';
import { scrub } from './scrub.js';

/** Options of the client's that make sense for every request of a call. */
export type RequestSettings = Pick<
  RequestOptions,
  'timeout' | 'maxTotalTimeout' | 'resetTimeoutOnProgress' | 'onprogress'
>;

/** One request, as it goes out. */
export interface Outgoing {
  readonly request: DrivenRequest;
  /** Absent on a first request, and after a round that gave none (MRTR-C-06). */
  readonly requestState?: string;
  /** Absent where nothing was asked (MRTR-C-03). */
  readonly inputResponses?: InputResponses;
  readonly capabilities: ClientCapabilities;
  readonly settings: RequestSettings;
  readonly signal: AbortSignal;
}

/** What a server may answer. */
export type Incoming =
  | { readonly type: 'result'; readonly result: DrivenResult }
  | {
      readonly type: 'interim';
      readonly inputRequests: { readonly [key: string]: unknown };
      readonly requestState?: string;
    };

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Sends one request over a connected client, in its manual mode. Errors are those of the client. */
export async function send(client: Client, outgoing: Outgoing): Promise<Incoming> {
  const { request, requestState, inputResponses, capabilities, settings, signal } = outgoing;
  if (client.transport === undefined) throw new ConfigurationError('The client is not connected.');
  const isModern = client.getProtocolEra() === 'modern';
  const params: Record<string, unknown> = {
    ...request.params,
    ...(isModern && { _meta: { ...request.params._meta, [CAPABILITIES]: capabilities } }),
    ...(requestState !== undefined && { requestState }),
    ...(inputResponses !== undefined && { inputResponses }),
  };
  const options = { ...settings, signal, allowInputRequired: true };
  // `callTool` mirrors parameters to headers (MRTR-C-11); `readResource` would look into its cache (MRTR-C-16).
  const result: unknown = await (request.method === 'tools/call'
    ? client.callTool(params as CallToolRequest['params'], options)
    : client.request({ method: request.method, params }, options));
  // Earlier revisions have no such result; what looks like one there is a member that the server made up.
  if (!isModern || !isInputRequiredResult(result)) return { type: 'result', result: result as DrivenResult };
  return {
    type: 'interim',
    inputRequests: result.inputRequests ?? {},
    ...(result.requestState !== undefined && { requestState: result.requestState }),
  };
}

/** What an error of the first request is to the caller. It is theirs to repeat, as with the client alone. */
export function firstFailure(error: unknown, signal: AbortSignal): unknown {
  if (isUnreadable(error)) return unreadable(error);
  return signal.aborted ? stopped(signal) : error;
}

/**
 * What an error of a retry is to the caller: one that the server answered, one that says that it never took the
 * request up, or one after which nobody knows.
 */
export function retryFailure(error: unknown, sent: SavedFlow, signal: AbortSignal): unknown {
  scrub(error, sent.requestState);
  if (error instanceof ParleyError) return error;
  const round = sent.round + 1;
  if (error instanceof ProtocolError) {
    const { code, data } = error;
    const isRefused = code === -32_602 && isObject(data) && data['reason'] === 'invalid_request_state';
    return isRefused && sent.requestState !== undefined
      ? new RequestStateRefused(round, { cause: error })
      : error;
  }
  if (isUnreadable(error)) return unreadable(error);
  if (isTurnedAway(error)) return error;
  return new RetryUnknown(round, sent, { cause: signal.aborted ? reasonOf(signal) : error });
}

/** Why a call ended that was cancelled with no retry under way. */
export function stopped(signal: AbortSignal, flow?: SavedFlow): Error {
  const reason = reasonOf(signal);
  return reason instanceof ParleyError ? reason : new CallStopped('signal', flow, { cause: reason });
}

function isUnreadable(error: unknown): error is SdkError {
  return (
    error instanceof SdkError &&
    (error.code === SdkErrorCode.InvalidResult || error.code === SdkErrorCode.UnsupportedResultType)
  );
}

function unreadable(error: SdkError): InvalidResponse {
  return new InvalidResponse('it is none that this protocol revision has', { cause: error });
}

/** Whether a retry that failed was never taken up: it did not leave, or HTTP said no before any handler ran. */
export function wasNotTaken(error: unknown): boolean {
  return error instanceof CallStopped || error instanceof ConfigurationError || isTurnedAway(error);
}

/** Who are you, what is that, too large, too often. */
function isTurnedAway(error: unknown): boolean {
  if (error instanceof Error && error.name === 'UnauthorizedError') return true;
  return error instanceof SdkHttpError && error.status >= 400 && error.status < 500 && error.status !== 408;
}
