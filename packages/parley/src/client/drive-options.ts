import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { ConfigurationError } from '../errors.js';
import type { Handlers } from './ask.js';
import type { Clock } from './clock.js';
import type { ServerIdentity } from './identity.js';
import { isObject, own } from './json.js';
import type { DrivePolicy } from './policy.js';
import type { DriveProgress } from './progress.js';
import { QUESTION_KINDS } from './question.js';
import type { RequestSettings } from './send.js';
import type { FlowStore } from './store.js';
import type { SavedTask } from './task.js';

/** What `drive` and `resume` take. */
export interface DriveOptions {
  /** Which server the client is connected to, and as whom, as the host configured it. */
  readonly server: ServerIdentity;
  /** Who answers. */
  readonly handlers: Handlers;
  /** How far the call may go. */
  readonly policy?: DrivePolicy | undefined;
  /** Where the call is saved between its rounds, so that another process can go on. */
  readonly store?: FlowStore | undefined;
  /** Cancels the call, with the request that is under way, and its task (`policy.task.whenStopped`). */
  readonly signal?: AbortSignal | undefined;
  /** Capabilities to declare beside those of the handlers (other extensions, `sampling.tools`). */
  readonly capabilities?: ClientCapabilities | undefined;
  /**
   * Whether the server may make a task of a `tools/call` that takes long: the extension is declared then, and the
   * driver sees to the rest. Default true.
   */
  readonly tasks?: boolean | undefined;
  /** Called with the task that the call has become, first and whenever it shows something new. Its errors are dropped. */
  readonly onTask?: ((task: SavedTask) => void) | undefined;
  /** Called when a round leaves, and when one is waited for. Its errors are dropped. Not on connections of 2025-11-25. */
  readonly onProgress?: ((progress: DriveProgress) => void) | undefined;
  /** Bytes of UTF-8 that a server's state may take; more is an invalid response. Default 1 MiB. */
  readonly maxStateBytes?: number | undefined;
  /** Options of every request: its time-out (ms; default 60 s, without what people take to answer), progress. */
  readonly request?: RequestSettings | undefined;
  /** Time; the machine's by default. */
  readonly clock?: Clock | undefined;
}

/** What `resume` takes beside. */
export interface ResumeOptions extends DriveOptions {
  /** Send a request again of which nobody knows whether the first one took effect. */
  readonly resend?: boolean | undefined;
}

/**
 * Checks what the compiler checks for hosts that have one, so that others are told what is wrong and not shown how
 * this library fails over it.
 *
 * @throws ConfigurationError
 */
export function checkOptions(options: DriveOptions): void {
  const fault = faultOf(options);
  if (fault !== undefined) throw new ConfigurationError(fault);
}

function faultOf(options: unknown): string | undefined {
  if (!isObject(options)) return 'The options are missing: server, and handlers.';
  const { handlers, policy = {}, store, signal, clock } = options;
  if (!isObject(handlers))
    return 'handlers must be an object, with a function for each kind that is answered.';
  // Not only own members: handlers may be methods of a class.
  const kind = QUESTION_KINDS.find((name) => !isOptionalFunction(handlers[name]));
  if (kind !== undefined) return `handlers.${kind} must be a function.`;
  if (!isObject(policy)) return 'policy must be an object.';
  for (const name of ['stateOnly', 'task']) {
    if (!isObject(policy[name] ?? {})) return `policy.${name} must be an object.`;
  }
  for (const name of ['onTask', 'onProgress']) {
    if (!isOptionalFunction(own(options, name))) return `${name} must be a function.`;
  }
  if (!hasMethods(store, ['load', 'save', 'clear']))
    return 'store must have the methods load, save and clear.';
  if (!hasMethods(clock, ['now', 'sleep'])) return 'clock must have the methods now and sleep.';
  if (!(signal === undefined || signal instanceof AbortSignal)) return 'signal must be an AbortSignal.';
  return undefined;
}

function isOptionalFunction(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (value === undefined) return true;
  return isObject(value) && names.every((name) => typeof value[name] === 'function');
}
