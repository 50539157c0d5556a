import { McpServer, ProtocolError, type CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';

/*
 * A server whose tool becomes a task, written by hand on the official SDK: the SDK gives the methods a place, and all
 * that they do is here. Nothing of Parley is in it.
 */

const TASKS = 'io.modelcontextprotocol/tasks';
const AnyParams = z.looseObject({ taskId: z.string() });

type Request = { readonly method: string; readonly params: Record<string, unknown> };

/** What stands in the SDK's context. Answers are lifted there, out of the params. */
interface Context {
  readonly mcpReq: {
    readonly inputResponses?: Record<string, unknown>;
    readonly envelope?: Record<string, { extensions?: Record<string, unknown> } | undefined>;
  };
}

/** A task, as the tool's work sees it. */
export class HandTask {
  readonly id = `task_${crypto.randomUUID()}`;
  readonly #answers = new Map<string, unknown>();
  status = 'working';
  statusMessage: string | undefined;
  ttlMs: number | null = 60_000;
  pollIntervalMs: number | undefined = 100;
  inputRequests: Record<string, unknown> = {};
  result: unknown;
  error: unknown;

  /** The answer under a key, if it came. */
  answer(key: string): unknown {
    return this.#answers.get(key);
  }

  working(statusMessage?: string): void {
    Object.assign(this, { status: 'working', statusMessage, inputRequests: {} });
  }

  ask(inputRequests: Record<string, unknown>): void {
    Object.assign(this, { status: 'input_required', inputRequests });
  }

  complete(result: CallToolResult | Record<string, unknown>): void {
    Object.assign(this, { status: 'completed', result });
  }

  fail(error: unknown): void {
    Object.assign(this, { status: 'failed', error });
  }

  /** Takes answers to what is outstanding; all others are ignored (TASK-20). */
  take(responses: Record<string, unknown>): void {
    for (const [key, answer] of Object.entries(responses)) {
      if (!Object.hasOwn(this.inputRequests, key)) continue;
      this.#answers.set(key, answer);
      const { [key]: _taken, ...rest } = this.inputRequests;
      this.inputRequests = rest;
    }
  }

  shown(): Record<string, unknown> {
    const { status, statusMessage, ttlMs, pollIntervalMs, inputRequests, result, error } = this;
    return {
      taskId: this.id,
      status,
      createdAt: '2026-07-28T12:00:00Z',
      lastUpdatedAt: '2026-07-28T12:00:01Z',
      ttlMs,
      ...(statusMessage !== undefined && { statusMessage }),
      ...(pollIntervalMs !== undefined && { pollIntervalMs }),
      ...(status === 'input_required' && { inputRequests }),
      ...(status === 'completed' && { result }),
      ...(status === 'failed' && { error }),
    };
  }
}

export interface TaskServer {
  /** One instance of the server. All of them know the same tasks. */
  readonly create: () => McpServer;
  readonly tasks: Map<string, HandTask>;
  /** Every look, update and cancellation, by method. */
  readonly log: string[];
}

/**
 * A server with a tool `t`. `work` is called when its task is made, on each look, and when answers came; it says where
 * the task stands. `before` may answer the call itself, in the way of a round.
 */
export function taskServer(
  work: (task: HandTask) => void,
  before?: (responses: Record<string, unknown> | undefined) => unknown,
): TaskServer {
  const tasks = new Map<string, HandTask>();
  const log: string[] = [];
  const find = (method: string, taskId: string, context: Context): HandTask => {
    log.push(method);
    if (!declares(context)) {
      const data = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
      throw new ProtocolError(-32_021, 'Missing required client capability', data);
    }
    const task = tasks.get(taskId);
    if (task === undefined) throw new ProtocolError(-32_602, 'Unknown task');
    return task;
  };
  const create = (): McpServer => {
    const mcp = new McpServer(
      { name: 'tasks-by-hand', version: '1.0.0' },
      { capabilities: { tools: {}, extensions: { [TASKS]: {} } } },
    );
    const on = mcp.server.setRequestHandler.bind(mcp.server) as (method: string, ...rest: unknown[]) => void;
    on('tools/list', () => ({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }));
    on('tools/call', (_request: Request, context: Context) => {
      const early = before?.(context.mcpReq.inputResponses);
      if (early !== undefined) return early;
      const task = new HandTask();
      work(task);
      if (!declares(context)) return { content: [{ type: 'text', text: 'without a task' }] };
      tasks.set(task.id, task);
      const { inputRequests: _, result: _result, error: _error, ...seed } = task.shown();
      return { resultType: 'task', ...seed };
    });
    on('tasks/get', { params: AnyParams }, ({ taskId }: { taskId: string }, context: Context) => {
      const task = find('get', taskId, context);
      work(task);
      return task.shown();
    });
    on('tasks/update', { params: AnyParams }, ({ taskId }: { taskId: string }, context: Context) => {
      const task = find('update', taskId, context);
      task.take(context.mcpReq.inputResponses ?? {});
      work(task);
      return {};
    });
    on('tasks/cancel', { params: AnyParams }, ({ taskId }: { taskId: string }, context: Context) => {
      find('cancel', taskId, context).status = 'cancelled';
      return {};
    });
    return mcp;
  };
  return { create, tasks, log };
}

function declares({ mcpReq }: Context): boolean {
  const capabilities = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'];
  return capabilities?.extensions?.[TASKS] !== undefined;
}
