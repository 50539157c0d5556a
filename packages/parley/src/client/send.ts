import {
  CLIENT_CAPABILITIES_META_KEY,
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
import { TASKS_EXTENSION_ID_V2 } from '@modelcontextprotocol/ext-tasks/core/v2';
import { CallStopped, ConfigurationError, DriveLimit, InvalidResponse } from '../errors.js';
import { bound } from './bounds.js';
import { LONGEST_MS, reasonOf } from './clock.js';
import { defined, isObject, own, type JsonObject } from './json.js';
import { observeRequest } from './observe-request.js';
import type { DrivenRequest, DrivenResult } from './request.js';
import type { SavedFlow } from './saved-flow.js';
import { scrub } from './scrub.js';
import { readTask, type TaskNews } from './task.js';

/** Options of the client's that make sense for every request of a call. */
export interface RequestSettings {
  /** Milliseconds that one request may take, without what people take to answer. Default 60,000. */
  readonly timeout?: number | undefined;
  /** Milliseconds that one request may take in all, where progress resets `timeout`. */
  readonly maxTotalTimeout?: number | undefined;
  /** Whether progress resets `timeout`. Default false. */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Called with what the server says of its progress. */
  readonly onprogress?: RequestOptions['onprogress'] | undefined;
}

/** @throws ConfigurationError when a time is none that a timer keeps. */
export function checkSettings({ timeout, maxTotalTimeout }: RequestSettings): void {
  for (const [name, ms] of Object.entries({ timeout, maxTotalTimeout })) {
    if (ms !== undefined) bound(`request.${name}`, ms, LONGEST_MS);
  }
}

/** One request, as it goes out. */
export interface Outgoing {
  readonly request: DrivenRequest;
  /** Absent on a first request, and after a round that gave none (MRTR-C-06). */
  readonly requestState?: string;
  /** Absent where nothing was asked (MRTR-C-03). */
  readonly inputResponses?: InputResponses;
  readonly capabilities: ClientCapabilities;
  /** Whether the server may make a task of it, which is for `tools/call` only (TASK-06). */
  readonly tasks: boolean;
  readonly settings: RequestSettings;
  readonly signal: AbortSignal;
}

/** An answer that asks, or only wants the request to be sent again. */
export interface Interim {
  readonly type: 'interim';
  readonly inputRequests: { readonly [key: string]: unknown };
  readonly requestState?: string;
}

/** What a server may answer. */
export type Incoming =
  | { readonly type: 'result'; readonly result: DrivenResult }
  | Interim
  | { readonly type: 'task'; readonly task: TaskNews };

/** A request that came to nothing, and what is known of it. */
export interface Failed {
  readonly type: 'failed';
  readonly error: unknown;
  /** `unsent`: it was never handed to the transport. `answered`: the server said something, which is the error. */
  readonly fate: 'unsent' | 'unknown' | 'answered';
}

/** What is declared where the server may answer with a task, and with all that is asked about one (TASK-01). */
export function withTasks(capabilities: ClientCapabilities): ClientCapabilities {
  return { ...capabilities, extensions: { ...capabilities.extensions, [TASKS_EXTENSION_ID_V2]: {} } };
}

/** As {@link exchange}. Errors are those of the client, but for what a server answers and cannot. */
export async function send(client: Client, outgoing: Outgoing): Promise<Incoming> {
  const outcome = await exchange(client, outgoing);
  if (outcome.type === 'failed') throw outcome.error;
  return outcome;
}

/** Sends one request over a connected client, in its manual mode, and tells what came of it. */
export async function exchange(client: Client, outgoing: Outgoing): Promise<Incoming | Failed> {
  const { request, requestState, inputResponses, settings, signal } = outgoing;
  const { transport } = client;
  if (transport === undefined)
    return failed('unsent', new ConfigurationError('The client is not connected.'));
  const isModern = client.getProtocolEra() === 'modern';
  const mayBeTask = isModern && outgoing.tasks && request.method === 'tools/call';
  const capabilities = mayBeTask ? withTasks(outgoing.capabilities) : outgoing.capabilities;
  const observation = observeRequest(transport, request.method);
  const params: Record<string, unknown> = {
    ...request.params,
    ...(isModern && { _meta: { ...request.params._meta, [CLIENT_CAPABILITIES_META_KEY]: capabilities } }),
    ...(requestState !== undefined && { requestState }),
    ...(inputResponses !== undefined && { inputResponses }),
    ...observation.mark,
  };
  const options = { ...defined(settings), signal, allowInputRequired: true };
  try {
    // `callTool` mirrors parameters to headers (MRTR-C-11); `readResource` would look into its cache (MRTR-C-16).
    const result: unknown = await (request.method === 'tools/call'
      ? client.callTool(params as CallToolRequest['params'], options)
      : client.request({ method: request.method, params }, options));
    // Earlier revisions have no other results; what looks like one there is a member that the server made up.
    return (isModern ? readInterim(result) : undefined) ?? { type: 'result', result: result as DrivenResult };
  } catch (error) {
    return observation.isOut()
      ? readRejected(error, observation.result(), { isModern, mayBeTask })
      : failed('unsent', error);
  } finally {
    observation.stop();
  }
}

/**
 * What the client rejected, where its error is not the whole truth: it knows no tasks, and it checks whatever comes
 * back against the output schema of the tool, an interim result too. `result` is what stood on the wire.
 */
function readRejected(
  error: unknown,
  result: unknown,
  { isModern, mayBeTask }: { readonly isModern: boolean; readonly mayBeTask: boolean },
): Incoming | Failed {
  const [kind, state] = isObject(result) ? [own(result, 'resultType'), own(result, 'requestState')] : [];
  if (typeof state === 'string') scrub(error, state, '[requestState]');
  if (isUnreadable(error)) {
    if (!mayBeTask || kind !== 'task') return failed('answered', unreadable(error));
    try {
      return { type: 'task', task: readTask(result as JsonObject) };
    } catch (invalid) {
      return failed('answered', invalid);
    }
  }
  if (!(error instanceof ProtocolError)) return failed('unknown', error);
  if (result === undefined) return failed('answered', error);
  // The tool did its work; it is not the server that answered with this error (CORE-28).
  const misfit = new InvalidResponse('it does not fit the output schema of its tool', { cause: error });
  return (isModern ? readInterim(result) : undefined) ?? failed('answered', misfit);
}

function failed(fate: Failed['fate'], error: unknown): Failed {
  return { type: 'failed', fate, error };
}

function readInterim(result: unknown): Interim | undefined {
  if (!isObject(result) || own(result, 'resultType') !== 'input_required') return undefined;
  const [inputRequests, requestState] = [own(result, 'inputRequests'), own(result, 'requestState')];
  return {
    type: 'interim',
    inputRequests: isObject(inputRequests) ? inputRequests : {},
    ...(typeof requestState === 'string' && { requestState }),
  };
}

/**
 * What an error of the first request is to the caller: the client's own, which is theirs to repeat as with the client
 * alone, but for time-outs, which have one class wherever they happen.
 */
export function firstFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return stopped(signal);
  if (!(error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)) return error;
  const { timeout, maxTotalTimeout } = (error.data ?? {}) as Partial<Record<string, number>>;
  return new DriveLimit('timeout', timeout ?? maxTotalTimeout ?? 0, undefined, { cause: error });
}

/** With what the driver itself stops a call: the only reason of a signal that becomes the error of the call. */
export class Overdue extends Error {
  constructor(readonly deadlineMs: number) {
    super('The deadline is over.');
  }
}

/** Why a call ended that was stopped with no retry under way. `flow` is where it stood. */
export function stopped(signal: AbortSignal, flow?: SavedFlow): DriveLimit | CallStopped {
  const reason = reasonOf(signal);
  // Any other reason is the host's, be it the error of another call.
  return reason instanceof Overdue
    ? new DriveLimit('deadlineMs', reason.deadlineMs, flow)
    : new CallStopped('signal', flow, { cause: reason });
}

/** Whether the client could not read what it got. */
export function isUnreadable(error: unknown): error is SdkError {
  return (
    error instanceof SdkError &&
    (error.code === SdkErrorCode.InvalidResult || error.code === SdkErrorCode.UnsupportedResultType)
  );
}

/** What that is to the caller. */
export function unreadable(error: SdkError): InvalidResponse {
  return new InvalidResponse('it is none that this protocol revision has', { cause: error });
}

/**
 * How the client's transports stamp what their sign-in failed with. They ask for a token before they send, and sign in
 * anew after a 401 or a 403: either way the request was not taken up.
 */
const SIGN_IN_FAILED = Symbol.for('mcp.authSeamEscape');

/** Whether HTTP said no before any handler ran: who are you, what is that, too large, too often. */
export function isTurnedAway(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ((error as { readonly [SIGN_IN_FAILED]?: unknown })[SIGN_IN_FAILED] === true) return true;
  if (error instanceof Error && error.name === 'UnauthorizedError') return true;
  return error instanceof SdkHttpError && error.status >= 400 && error.status < 500 && error.status !== 408;
}
