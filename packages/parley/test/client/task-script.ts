import { done, scripted, type Connection, type Sent } from './harness.js';

export const TASK_ID = 'task-0123456789';

/** The content of a result. */
export const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

/** What every task has on the wire. */
export function seed(members: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    taskId: TASK_ID,
    status: 'working',
    createdAt: '2026-07-28T12:00:00Z',
    lastUpdatedAt: '2026-07-28T12:00:00Z',
    ttlMs: 60_000,
    ...members,
  };
}

/** What makes a task of a call. */
export const made = (members: Record<string, unknown> = {}) => ({ resultType: 'task', ...seed(members) });

/** What a look at a task shows. */
export const look = (members: Record<string, unknown> = {}) => ({ resultType: 'complete', ...seed(members) });

export const completed = () => look({ status: 'completed', result: done() });

export const asks = (inputRequests: unknown) => look({ status: 'input_required', inputRequests });

/** A call that is a task at once, whose nth look shows what the script gives. */
export function looking(
  show: (nth: number) => unknown,
  members: Record<string, unknown> = {},
): Promise<Connection> {
  let looks = 0;
  return scripted(({ method }) => {
    if (method === 'tools/call') return made(members);
    if (method === 'tasks/get') return show((looks += 1));
    return { resultType: 'complete' };
  });
}

/** The methods that were sent, in short. */
export const methods = (sent: readonly Sent[]): string[] =>
  sent.map(({ method }) => method.replace('tasks/', ''));

/** What a request declared. */
export const capabilitiesOf = ({ params }: Sent): unknown =>
  params._meta?.['io.modelcontextprotocol/clientCapabilities'];
