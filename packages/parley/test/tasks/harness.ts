import { createMcpHandler, McpServer, type AuthInfo } from '@modelcontextprotocol/server';
import { CreateTaskResultV2Schema, DetailedTaskV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import { Parley, type Flows, type ParleyEvents, type ParleyOptions } from '../../src/index.js';
import { memoryTasks, type MemoryTasks, type MemoryTasksOptions } from '../../src/tasks/index.js';
import { TEST_KEY, type Answer } from '../gate/wire-harness.js';

export const TASKS = 'io.modelcontextprotocol/tasks';

/** What a client declares that takes tasks and can be asked anything. */
export const FULL = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
  extensions: { [TASKS]: {} },
};

/** The same client without tasks. */
export const WITHOUT_TASKS = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** What a request may carry. */
export interface Extra {
  readonly capabilities?: Record<string, unknown>;
  readonly auth?: AuthInfo;
  /** The `Mcp-Name` header, where it is not what the body says. */
  readonly name?: string;
  readonly meta?: Record<string, unknown>;
  readonly version?: string;
}

/** What a look at a task shows. */
export interface Shown {
  readonly resultType?: string;
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly ttlMs: number;
  readonly pollIntervalMs?: number;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly inputRequests?: Record<string, { method: string; params: Record<string, unknown> }>;
  readonly result?: {
    readonly content: readonly { readonly text: string }[];
    readonly structuredContent?: unknown;
    readonly isError?: boolean;
    readonly resultType?: string;
  };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A server with tasks behind `createMcpHandler`, called with raw HTTP requests in memory. */
export interface TaskServer {
  readonly parley: Parley;
  readonly tasks: MemoryTasks;
  readonly warnings: string[];
  readonly events: { readonly name: keyof ParleyEvents; readonly event: unknown }[];
  send(method: string, params: Record<string, unknown>, extra?: Extra): Promise<Answer>;
  tool(name: string, params?: Record<string, unknown>, extra?: Extra): Promise<Answer>;
  /** Calls a tool that becomes a task, holds the answer against the extension's schema, and gives the task's id. */
  begin(name: string, params?: Record<string, unknown>, extra?: Extra): Promise<string>;
  get(id: string, extra?: Extra): Promise<Shown>;
  update(id: string, inputResponses: Record<string, unknown>, extra?: Extra): Promise<Answer>;
  cancel(id: string, extra?: Extra): Promise<Answer>;
  /** Looks until the task stands as it should. */
  until(id: string, is: string | ((task: Shown) => boolean), extra?: Extra): Promise<Shown>;
}

export interface ServerOptions extends Omit<ParleyOptions, 'tasks'> {
  readonly memory?: MemoryTasksOptions;
  readonly tasks?: ParleyOptions['tasks'];
}

const EVENTS = ['suspended', 'completed', 'repeated', 'detached', 'sealed', 'rejected'] as const;

/** Makes a server. `setup` is the factory's body: it runs for each request, and may look at who asks. */
export function taskServer(
  setup: (flows: Flows, mcp: McpServer, auth: AuthInfo | undefined) => void,
  options: ServerOptions = {},
): TaskServer {
  const { memory, ...rest } = options;
  const warnings: string[] = [];
  const tasks = memoryTasks({
    pollInterval: 20,
    ...(rest.now !== undefined && { now: rest.now }),
    ...memory,
  });
  const parley = new Parley({
    keys: TEST_KEY,
    logger: { warn: (message) => void warnings.push(message) },
    tasks,
    ...rest,
  });
  const events: TaskServer['events'] = [];
  for (const name of EVENTS) parley.on(name, (event) => void events.push({ name, event }));
  const handler = createMcpHandler(({ authInfo }) => {
    const mcp = new McpServer({ name: 'tasks-test', version: '1.0.0' });
    setup(parley.attach(mcp), mcp, authInfo);
    return mcp;
  });
  let lastId = 0;
  const send: TaskServer['send'] = async (method, params, extra = {}) => {
    lastId += 1;
    const version = extra.version ?? '2026-07-28';
    const name = extra.name ?? params['taskId'] ?? params['name'] ?? params['uri'];
    const body = {
      jsonrpc: '2.0',
      id: lastId,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientCapabilities': extra.capabilities ?? FULL,
          ...extra.meta,
        },
      },
    };
    const request = new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': version,
        'Mcp-Method': method,
        ...(typeof name === 'string' && { 'Mcp-Name': name }),
      },
      body: JSON.stringify(body),
    });
    const response = await handler.fetch(request, extra.auth === undefined ? {} : { authInfo: extra.auth });
    const text = await response.text();
    return { status: response.status, text, ...(JSON.parse(text) as object) };
  };
  const get: TaskServer['get'] = async (id, extra) => {
    const answer = await send('tasks/get', { taskId: id }, extra);
    if (answer.result === undefined) throw new Error(answer.text);
    DetailedTaskV2Schema.parse(answer.result);
    return answer.result as unknown as Shown;
  };
  const tool: TaskServer['tool'] = (name, params = {}, extra) =>
    send('tools/call', { name, arguments: {}, ...params }, extra);
  return {
    parley,
    tasks,
    warnings,
    events,
    send,
    tool,
    get,
    async begin(name, params, extra) {
      const answer = await tool(name, params, extra);
      if (answer.result?.resultType !== 'task') throw new Error(`no task: ${answer.text}`);
      return CreateTaskResultV2Schema.parse(answer.result).taskId;
    },
    update: (id, inputResponses, extra) => send('tasks/update', { taskId: id, inputResponses }, extra),
    cancel: (id, extra) => send('tasks/cancel', { taskId: id }, extra),
    async until(id, is, extra) {
      for (let tries = 0; tries < 2_000; tries += 1) {
        const task = await get(id, extra);
        if (typeof is === 'string' ? task.status === is : is(task)) return task;
        await new Promise((resolve) => void setTimeout(resolve, 5));
      }
      throw new Error(
        `The task never stood as it should; it stands: ${JSON.stringify(await get(id, extra))}`,
      );
    },
  };
}

/** An answer that accepts a form. */
export function accept(content: Record<string, unknown>): Record<string, unknown> {
  return { action: 'accept', content };
}

/** A text as a tool's result. */
export function text(value: unknown): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: String(value) }] };
}
