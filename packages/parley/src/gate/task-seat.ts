import type { McpServer } from '@modelcontextprotocol/server';
import type { ServerTasks, ToolRunner } from './tasks.js';

/** What a worker needs of a server that was attached: the tasks of its audience, and its flow tools. */
export interface TaskSeat {
  /** The `Parley` that it was attached to. */
  readonly parley: object;
  readonly tasks: ServerTasks;
  readonly runner: ToolRunner;
}

const seats = new WeakMap<McpServer, TaskSeat>();

/** Notes the seat of a server. */
export function takeSeat(mcp: McpServer, seat: TaskSeat): void {
  seats.set(mcp, seat);
}

/** The seat of a server; undefined when it was not attached, or there are no tasks. */
export function taskSeatOf(mcp: McpServer): TaskSeat | undefined {
  return seats.get(mcp);
}
