import {
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ownAnswer, readAnswer } from '../flow/index.js';
import { missingTasks, takesTasks, type TaskHost } from '../gate/index.js';
import { encodeBase64url } from '../seal/index.js';
import type { StoredAnswer, TaskRow, TaskStore } from './store.js';
import { detailedTask, openQuestions, ownerOf } from './task-view.js';
import { wireDigest, type TaskSealer } from './task-sealer.js';

/** What every id of ours looks like; nothing else is looked up. */
const ID = /^[\w-]{22}$/;

/** Takes params as they are: a client that may not use tasks learns that first, whatever else is wrong (TASK-30). */
const UNCHECKED = {
  '~standard': { version: 1, vendor: 'mcp-parley', validate: (value: unknown) => ({ value }) },
} as const;

type Method = (row: TaskRow, ctx: ServerContext) => Promise<object>;

/**
 * Serves `tasks/get`, `tasks/update` and `tasks/cancel` (tasks extension). In this order: does the client take tasks,
 * is the id one, does the task exist, is it this caller's. A task of somebody else is as unknown as one that never was.
 *
 * The header `Mcp-Name` is held against the id by the SDK's HTTP entry, before any of this.
 */
export class TaskMethods {
  readonly #host: TaskHost;
  readonly #store: TaskStore;
  readonly #sealer: TaskSealer;

  constructor(host: TaskHost, store: TaskStore, sealer: TaskSealer) {
    this.#host = host;
    this.#store = store;
    this.#sealer = sealer;
  }

  install(server: Server): void {
    const methods: Readonly<Record<string, Method>> = {
      'tasks/get': (row) => detailedTask(this.#sealer, row),
      'tasks/update': (row, ctx) => this.#update(row, ctx),
      'tasks/cancel': (row) => this.#cancel(row),
    };
    for (const [name, method] of Object.entries(methods)) {
      server.setRequestHandler(name, { params: UNCHECKED }, async (params, ctx) => {
        if (ctx.mcpReq.envelope === undefined) {
          throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found'); // TASK-33
        }
        if (!takesTasks(ctx)) throw missingTasks();
        return (await this.#serve(params, ctx, method)) as Result;
      });
    }
  }

  async #serve(params: unknown, ctx: ServerContext, method: Method): Promise<object> {
    const id: unknown = (params as { readonly taskId?: unknown }).taskId;
    if (typeof id !== 'string') {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'params.taskId must be the id of a task, a string.',
      );
    }
    try {
      const row = ID.test(id) ? await this.#store.read(id) : undefined;
      const principal = encodeBase64url(await this.#host.principal(ctx));
      if (row?.principal !== principal || (await ownerOf(this.#sealer, row)) !== principal)
        throw unknownTask();
      return await method(row, ctx);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      this.#host.runHost.warn(
        `${ctx.mcpReq.method} failed: ${error instanceof Error ? error.name : 'unknown error'}`,
      );
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
    }
  }

  /** Takes answers to what is open. All others are ignored before anything of them is looked at (TASK-20). */
  async #update(row: TaskRow, { mcpReq: { inputResponses } }: ServerContext): Promise<object> {
    if (row.state !== 'active' || inputResponses === undefined) return {};
    const answers: StoredAnswer[] = [];
    for (const { wire, kind } of await openQuestions(this.#sealer, row)) {
      const raw = ownAnswer(inputResponses, wire);
      if (raw === undefined || readAnswer(kind, raw, this.#host.limits.answerBytes) === undefined) continue;
      const digest = wireDigest(row.id, wire);
      const value = await this.#sealer.seal(row.id, `answer ${digest}`, JSON.stringify(raw));
      answers.push({ wire: digest, value });
    }
    if (answers.length > 0) await this.#store.answer(row.id, answers);
    return {};
  }

  async #cancel({ id }: TaskRow): Promise<object> {
    await this.#store.cancel(id);
    return {};
  }
}

/** The same bytes for a task that never was, that has expired, and that is somebody else's (TASK-29). */
function unknownTask(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'Unknown task: there is none of this id for this caller, or its time is over.',
  );
}
