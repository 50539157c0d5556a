import {
  CLIENT_CAPABILITIES_META_KEY,
  isInputRequiredResult,
  ProtocolError,
  SdkHttpError,
  specTypeSchemas,
  type Client,
  type ClientCapabilities,
} from '@modelcontextprotocol/client';
import { ConfigurationError, InvalidResponse, ParleyError } from '../errors.js';
import { unlessAborted } from './ask.js';
import { defined, type JsonObject } from './json.js';
import { scrub } from './scrub.js';
import { isTurnedAway, isUnreadable, unreadable, type RequestSettings } from './send.js';

/** A request about a task: a look, answers, or its cancellation (TASK-14). */
export interface TaskRequest {
  readonly method: 'tasks/get' | 'tasks/update' | 'tasks/cancel';
  readonly taskId: string;
  /** Of `tasks/update` only. */
  readonly inputResponses?: object;
  readonly capabilities: ClientCapabilities;
  readonly settings: RequestSettings;
  readonly signal: AbortSignal;
}

/**
 * Sends one request about a task, and gives its result as the server sent it. Errors are those of the client, with
 * the id taken out.
 *
 * Where an aborted request would be followed by `notifications/cancelled`, it is not aborted: only nobody waits for
 * it any more. That notification is not for tasks (TASK-25), and servers may not know a look from the task itself.
 */
export async function sendTask(client: Client, request: TaskRequest): Promise<JsonObject> {
  const { method, taskId, inputResponses, capabilities, settings, signal } = request;
  const { transport } = client;
  if (transport === undefined) throw new ConfigurationError('The client is not connected.');
  if (client.getProtocolEra() === 'legacy') {
    throw new ConfigurationError('This connection is of an earlier revision, which has no such tasks.');
  }
  const { timeout, maxTotalTimeout } = settings;
  const options = {
    ...defined({ timeout, maxTotalTimeout }),
    ...(transport.hasPerRequestStream === true && { signal }),
    // Nothing is asked this way about a task; the client would otherwise answer with handlers of its own.
    allowInputRequired: true,
  };
  const params = {
    taskId,
    ...(inputResponses !== undefined && { inputResponses }),
    _meta: { [CLIENT_CAPABILITIES_META_KEY]: capabilities },
  };
  try {
    const sending = (): Promise<JsonObject> =>
      client.request({ method, params }, specTypeSchemas.Result, options);
    const result = await unlessAborted(sending, signal);
    if (isInputRequiredResult(result))
      throw new InvalidResponse('it asks in the way of a round about a task');
    return result;
  } catch (error) {
    scrub(error, taskId, '[taskId]');
    throw isUnreadable(error) ? unreadable(error) : error;
  }
}

/** Whether a request about a task that failed is worth another try: all that may pass by itself. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ParleyError) return false;
  if (error instanceof ProtocolError) return error.code === -32_603;
  const isTooOften = error instanceof SdkHttpError && error.status === 429;
  return isTooOften || !isTurnedAway(error);
}
