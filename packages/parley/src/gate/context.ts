import type { RequestStateAccessor, ServerContext } from '@modelcontextprotocol/server';
import type { OpenedState } from '../carrier/index.js';
import type { Round } from './round.js';
import type { TaskRun } from './tasks.js';
import { invalidRequestState } from './wire-errors.js';

/** Leads from the context that a callback gets back to its round. A table would cost more than the rest of the gate. */
const ROUND = Symbol('round');
const TASK_RUN = Symbol('task run');

export type GatedContext = ServerContext & { readonly [ROUND]?: Round; readonly [TASK_RUN]?: TaskRun };

/** The round that a callback's context belongs to. */
export function roundOf(ctx: ServerContext): Round | undefined {
  return (ctx as GatedContext)[ROUND];
}

/** The run of a task that a callback's context belongs to. */
export function taskRunOf(ctx: ServerContext): TaskRun | undefined {
  return (ctx as GatedContext)[TASK_RUN];
}

/** The context of a callback that is called for a task. */
export function contextForTask(ctx: ServerContext, run: TaskRun): GatedContext {
  return { ...ctx, [TASK_RUN]: run };
}

/** What a handler sees of the wire: the plain text of its own state, and answers that it asked for. */
export function contextFor(round: Round): GatedContext {
  const { ctx, opened } = round;
  const { inputResponses } = ctx.mcpReq;
  if (opened === undefined && inputResponses === undefined) return { ...ctx, [ROUND]: round };
  const requestState = (): unknown => {
    if (opened?.state.kind !== 'flow') return opened?.state.text;
    // A handler written by hand that stands where the flow once stood would take "no state" for a first request.
    return round.fail(invalidRequestState());
  };
  // One spread: a second one into the same object would cost more than the rest of this function.
  const mcpReq: Writable = { ...ctx.mcpReq, requestState: requestState as RequestStateAccessor };
  if (inputResponses !== undefined) mcpReq.inputResponses = pick(inputResponses, opened);
  return { ...ctx, mcpReq, [ROUND]: round };
}

type Writable = { -readonly [K in keyof ServerContext['mcpReq']]: ServerContext['mcpReq'][K] };

/** The answers under keys that were asked, on an object without a prototype: what the SDK gives may have a forged one. */
export function pick(
  answers: Record<string, unknown>,
  opened: OpenedState | undefined,
): Record<string, unknown> {
  const keys = opened?.state.asked.map(({ key }) => key) ?? Object.keys(answers);
  const picked = Object.create(null) as Record<string, unknown>;
  for (const key of keys) if (Object.hasOwn(answers, key)) picked[key] = answers[key];
  return picked;
}
