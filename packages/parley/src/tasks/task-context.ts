import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { authOf, type TaskHead } from './head.js';

/**
 * What a handler finds as `flow.ctx` in a task: nobody is at the other end. Progress and log messages go nowhere
 * (TASK-39), and there is no state (TASK-45).
 */
export function taskContext(id: string, head: TaskHead, signal: AbortSignal): ServerContext {
  const authInfo = authOf(head);
  const refuse = async (): Promise<never> => {
    throw new Error('Nothing can be sent to the client from a task. Ask with flow.form() and the like.');
  };
  return {
    mcpReq: {
      id,
      method: 'tools/call',
      envelope: { [CLIENT_CAPABILITIES_META_KEY]: head.capabilities },
      requestState: () => undefined,
      signal,
      send: refuse,
      notify: async () => undefined,
      log: async () => undefined,
      elicitInput: refuse,
      requestSampling: refuse,
    },
    ...(authInfo !== undefined && { http: { authInfo } }),
  };
}
