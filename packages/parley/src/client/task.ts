import { ProtocolError, specTypeSchemas, type CallToolResult } from '@modelcontextprotocol/client';
import { ErrorV2Schema, TaskV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import { InvalidResponse } from '../errors.js';
import { isObject, own, type JsonObject } from './json.js';

/** Where a task stands (extension `io.modelcontextprotocol/tasks`, "Task Status"). The last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

export const TASK_STATUSES: readonly TaskStatus[] = [
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
];

/** A task that a call has become, as it was seen last. Plain JSON. */
export interface SavedTask {
  /** The server's name for it. On a server without authorization, whoever has it may act on the task: a secret. */
  readonly id: string;
  readonly status: TaskStatus;
  /** The server's word on the status, for people to read: plain text, at most 1,000 characters. */
  readonly statusMessage?: string;
  /** Milliseconds from its creation after which the server may drop it; `null` for never. It may change. */
  readonly ttlMs: number | null;
  /** Milliseconds to wait before the next look, from 100 to 3,600,000. Absent when the server leaves it open. */
  readonly pollIntervalMs?: number;
  /** When this side saw it first, in ms since 1970. */
  readonly seenAt: number;
  /** Keys of the questions whose answers the server took. They are never asked again (TASK-22). */
  readonly answered: readonly string[];
}

/** What a look at a task shows, beside what is saved of it. */
export type TaskOutcome =
  | { readonly type: 'working' }
  | { readonly type: 'asking'; readonly inputRequests: { readonly [key: string]: unknown } }
  | { readonly type: 'completed'; readonly result: CallToolResult }
  | { readonly type: 'failed'; readonly error: ProtocolError }
  | { readonly type: 'cancelled' };

/** What a server says of a task at one time, checked. */
export type TaskNews = Omit<SavedTask, 'seenAt' | 'answered'>;

/** Every `tasks/*` request carries it in a header. Servers and proxies take 8 to 16 KiB of headers in all. */
const MAX_ID_LENGTH = 4096;

const MAX_MESSAGE_LENGTH = 1000;

/** A server that asks to be looked at more often is not; one that names more than an hour cannot mean it. */
export const POLL_MS = { least: 100, most: 3_600_000 };

/** What is wrong with a task's id, or nothing. */
export function taskIdFault(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '') return 'is not a text';
  if (id.length > MAX_ID_LENGTH) return `is longer than ${MAX_ID_LENGTH} characters`;
  return /[\p{Cc}\p{Cs}]/u.test(id) ? 'has characters that no header can carry' : undefined;
}

/**
 * Reads what every task has (TASK-08 to TASK-10).
 *
 * @throws InvalidResponse
 */
export function readTask(source: JsonObject): TaskNews {
  const fault = taskIdFault(own(source, 'taskId'));
  if (fault !== undefined) throw new InvalidResponse(`the id of its task ${fault}`);
  const { success, data } = TaskV2Schema.safeParse(source);
  if (!success) throw new InvalidResponse('its task lacks what every task has');
  const { taskId, status, statusMessage, ttlMs, pollIntervalMs = 0 } = data;
  return {
    id: taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage: statusMessage.slice(0, MAX_MESSAGE_LENGTH) }),
    ttlMs: ttlMs === null ? null : Math.max(ttlMs, 0),
    ...(pollIntervalMs > 0 && {
      pollIntervalMs: Math.min(Math.max(pollIntervalMs, POLL_MS.least), POLL_MS.most),
    }),
  };
}

/**
 * Reads what a look at a task shows beside that (TASK-15).
 *
 * @throws InvalidResponse
 */
export function readOutcome(task: JsonObject, status: TaskStatus): TaskOutcome {
  switch (status) {
    case 'working':
    case 'cancelled':
      return { type: status };
    case 'input_required': {
      const inputRequests = own(task, 'inputRequests');
      if (!isObject(inputRequests)) throw new InvalidResponse('its task asks, and says not what');
      return { type: 'asking', inputRequests };
    }
    case 'completed':
      return { type: 'completed', result: readResult(own(task, 'result')) };
    case 'failed': {
      const { success, data } = ErrorV2Schema.safeParse(own(task, 'error'));
      if (!success) throw new InvalidResponse('its task failed, and says not how');
      return { type: 'failed', error: ProtocolError.fromError(data.code, data.message, data.data) };
    }
  }
}

/** What the call would have returned (TASK-17): a final result, with or without saying so (GAP-40). */
function readResult(result: unknown): CallToolResult {
  const fault = (): never => {
    throw new InvalidResponse('its task is completed, and its result is none of tools/call');
  };
  if (!isObject(result)) return fault();
  const { resultType, ...rest } = result;
  if (resultType !== undefined && resultType !== 'complete') return fault();
  const check = specTypeSchemas.CallToolResult['~standard'].validate(rest);
  return check.issues === undefined ? check.value : fault();
}
