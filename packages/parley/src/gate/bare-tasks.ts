import type { Result, Server } from '@modelcontextprotocol/server';
import { isTaskResult } from './escalation.js';
import type { SdkHandler } from './request.js';

/** What the SDK keeps private: it puts this around each handler that is set. */
interface Internals {
  _wrapHandler: (method: string, handler: SdkHandler) => SdkHandler;
}

/**
 * Lets a created task out as it is. The SDK takes every result of `tools/call` that asks nothing for that of a tool, and
 * puts an empty `content` into one that has none. A task has no content (TASK-08): a client that looks for it would
 * take the call for one that ended with nothing to say.
 *
 * Called before handlers are set.
 */
export function keepTasksBare(server: Server): void {
  const internals = server as unknown as Internals;
  const wrap = internals._wrapHandler.bind(server);
  internals._wrapHandler = (method, handler) => {
    const wrapped = wrap(method, handler);
    if (method !== 'tools/call') return wrapped;
    return async (request, ctx) => withoutContent(await wrapped(request, ctx));
  };
}

function withoutContent(result: Result): Result {
  if (!isTaskResult(result)) return result;
  const { content: _content, ...task } = result;
  return task;
}
