import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ConfigurationError } from '../errors.js';
import type { Flow } from '../flow/index.js';
import type { GatedMethod } from './events.js';
import { TASKS_EXTENSION } from './tasks.js';

/** Whether the calls of a tool are tasks: for clients that take tasks, or for nobody else. */
export type TaskMode = 'optional' | 'required';

/** What this very request declared. Nothing, for a request of an older revision: there the identifier means nothing (TASK-33). */
export function declaredCapabilities(ctx: ServerContext): ClientCapabilities | undefined {
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY];
  return typeof declared === 'object' && declared !== null ? declared : undefined;
}

/** Whether this very request takes tasks (TASK-03). */
export function takesTasks(ctx: ServerContext): boolean {
  const { extensions } = declaredCapabilities(ctx) ?? {};
  return typeof extensions === 'object' && extensions !== null && Object.hasOwn(extensions, TASKS_EXTENSION);
}

/** The answer to a client that does not take tasks, where it would have to (TASK-04, TASK-30). */
export function missingTasks(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    `This request needs a client capability that it does not declare: extensions['${TASKS_EXTENSION}']`,
  );
}

/** Why a flow cannot become a task. */
export function whyNoTask(method: GatedMethod, hasTasks: boolean): Error {
  if (method !== 'tools/call') {
    return new ConfigurationError(
      'flow.detach was called in a prompt or resource. Only the call of a tool can become a task.',
    );
  }
  return hasTasks ? missingTasks() : new ConfigurationError(NO_TASKS);
}

/** Tells how to configure tasks. */
export const NO_TASKS =
  'This server has no tasks. Pass a store for them: new Parley({ tasks: memoryTasks() }), from mcp-parley/tasks.';

/** A handler whose whole call is a task. */
export function detachFirst<Ctx, T>(
  handler: (flow: Flow<Ctx>) => T | Promise<T>,
): (flow: Flow<Ctx>) => Promise<T> {
  return async (flow) => {
    await flow.detach();
    return await handler(flow);
  };
}

/** Thrown through the SDK, which would take a created task for a tool's result and hold it against its schema. */
export class BecameTask extends Error {
  override readonly name = 'BecameTask';
}

/** Whether a result says that it is a task (TASK-07). */
export function isTaskResult(result: unknown): result is Result {
  return (
    typeof result === 'object' && result !== null && 'resultType' in result && result.resultType === 'task'
  );
}
