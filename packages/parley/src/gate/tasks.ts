import type {
  ClientCapabilities,
  CallToolResult,
  Result,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { Binding, FlowIdentity, StatePolicy } from '../carrier/index.js';
import type { Attempt, DetachOptions, Journal, OnceRequest, RunHost } from '../flow/index.js';
import type { RingKey } from '../seal/index.js';
import type { Emitter, ParleyEvents } from './events.js';
import type { Limits } from './limits.js';

/** The extension's identifier (tasks extension, "Capability Negotiation"; TASK-01). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** What the gate lends to tasks: what a round has, too. One for each audience. */
export interface TaskHost {
  readonly limits: Limits;
  /** Milliseconds by which clocks may be apart. */
  readonly clockSkew: number;
  /** Milliseconds after which a process is given up for dead. */
  readonly lease: number;
  readonly audience: string;
  readonly keys: readonly RingKey[];
  readonly emit: Emitter<ParleyEvents>['emit'];
  readonly runHost: RunHost;
  /** Digest of who makes a request. Rejects when that cannot be told. */
  readonly principal: (ctx: ServerContext) => Promise<Uint8Array>;
  /** Does work at most once, under the same keys as in a round. `left`: ms for which it may still be asked for. */
  readonly once: (flow: string, left: number, request: OnceRequest) => Promise<Attempt>;
}

/** A flow that becomes a task. */
export interface TaskSeed {
  readonly identity: FlowIdentity;
  readonly binding: Binding;
  readonly tool: string;
  /** The arguments as the client sent them. */
  readonly args: unknown;
  /** What the client declared. */
  readonly capabilities: ClientCapabilities;
  readonly ctx: ServerContext;
  readonly policy: StatePolicy;
  readonly journal: Journal;
  readonly options: DetachOptions;
}

/** The run of a task, as a tool's callback meets it: in place of a round. */
export interface TaskRun {
  /**
   * Runs the flow from the task's journal. Gives its result, or throws: its own error, or that it came to rest.
   *
   * @param handler takes a `Flow`. Its type says less, since that of a flow fits no copy of itself, such as the built
   * package beside its sources.
   */
  serve(handler: (flow: never) => unknown, ctx: ServerContext, policy: StatePolicy): Promise<unknown>;
}

/** Runs a flow tool of one server outside of a request. */
export interface ToolRunner {
  /** Whether the server has a flow under this name. */
  has(tool: string): boolean;
  /**
   * Calls the tool through the SDK, which checks its arguments and its result.
   *
   * @param ctx what the handler finds as `flow.ctx`.
   */
  run(call: {
    readonly tool: string;
    readonly args: unknown;
    readonly ctx: ServerContext;
    readonly run: TaskRun;
  }): Promise<CallToolResult>;
}

/** Tasks of one audience. */
export interface ServerTasks {
  /** Serves the extension's methods on a server. */
  install(server: Server): void;
  /**
   * Stores a flow as a task, and gives what the request is answered with. The same flow again gives the same task.
   *
   * @param runner runs the tool as the creating request's server does, with what its factory knows of that request.
   */
  begin(seed: TaskSeed, runner: ToolRunner): Promise<{ readonly result: Result; readonly created: boolean }>;
}

/** What `new Parley({ tasks })` takes: made by `memoryTasks` or `postgresTasks`. */
export interface Tasks {
  /** Makes the tasks of one audience; called once for each. */
  open(host: TaskHost): ServerTasks;
}
