import type {
  CacheHint,
  CallToolResult,
  GetPromptResult,
  Icon,
  InputRequiredResult,
  McpServer,
  ReadResourceResult,
  RegisteredPrompt,
  RegisteredResource,
  RegisteredResourceTemplate,
  RegisteredTool,
  ResourceMetadata,
  ResourceTemplate,
  ScopeChallengeHandler,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
  Variables,
} from '@modelcontextprotocol/server';
import { ConfigurationError } from '../errors.js';
import type { StatePolicy } from '../carrier/index.js';
import type { Flow } from '../flow/index.js';
import { lendConverted } from './converted-schemas.js';
import { NO_TASKS, type TaskMode } from './escalation.js';
import type { Gate } from './gate.js';
import type { FlowPolicy } from './gate-parts.js';
import { checkDuration } from './options.js';
import type { Registrations } from './registrations.js';

/** The flow object under the official SDK. */
export type McpFlow = Flow<ServerContext>;

type MaybePromise<T> = T | Promise<T>;

/** What the SDK's `registerTool` takes, and what is said of the tool's states. */
export interface FlowToolConfig<
  Input extends StandardSchemaWithJSON | undefined,
  Output extends StandardSchemaWithJSON,
> extends StatePolicy {
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: Input;
  readonly outputSchema?: Output;
  /**
   * Whether a call is a task from its start (extension `io.modelcontextprotocol/tasks`). `optional`: for clients that
   * take tasks, and others are served in the request. `required`: others get -32021. Default: neither, and
   * `flow.detach` makes a task of the flow where it is called. Needs tasks (`new Parley({ tasks })`).
   */
  readonly task?: TaskMode;
  readonly annotations?: ToolAnnotations;
  readonly icons?: Icon[];
  readonly scopeChallenge?: ScopeChallengeHandler;
  readonly _meta?: Record<string, unknown>;
}

/** What the SDK's `registerPrompt` takes, and what is said of the prompt's states. */
export interface FlowPromptConfig<Args extends StandardSchemaWithJSON | undefined> extends StatePolicy {
  readonly title?: string;
  readonly description?: string;
  readonly argsSchema?: Args;
  readonly icons?: Icon[];
  readonly scopeChallenge?: ScopeChallengeHandler;
  readonly _meta?: Record<string, unknown>;
}

/** What the SDK's `registerResource` takes, and what is said of the resource's states. */
export type FlowResourceConfig = ResourceMetadata &
  StatePolicy & { readonly cacheHint?: CacheHint; readonly scopeChallenge?: ScopeChallengeHandler };

/** A tool as straight-line code: the SDK's signature, with the flow in place of the context. */
export type FlowToolHandler<Input extends StandardSchemaWithJSON | undefined> =
  Input extends StandardSchemaWithJSON
    ? (args: StandardSchemaWithJSON.InferOutput<Input>, flow: McpFlow) => MaybePromise<CallToolResult>
    : (flow: McpFlow) => MaybePromise<CallToolResult>;

/** A prompt as straight-line code. */
export type FlowPromptHandler<Args extends StandardSchemaWithJSON | undefined> =
  Args extends StandardSchemaWithJSON
    ? (args: StandardSchemaWithJSON.InferOutput<Args>, flow: McpFlow) => MaybePromise<GetPromptResult>
    : (flow: McpFlow) => MaybePromise<GetPromptResult>;

/** A resource as straight-line code. */
export type FlowResourceHandler = (uri: URL, flow: McpFlow) => MaybePromise<ReadResourceResult>;

/** A resource template as straight-line code. */
export type FlowResourceTemplateHandler = (
  uri: URL,
  variables: Variables,
  flow: McpFlow,
) => MaybePromise<ReadResourceResult>;

/**
 * Registers flows on one server. Its methods mirror those of `McpServer` and give the same handles; what is
 * registered on the server itself, written by hand with `inputRequired()`, has its states sealed too.
 */
export class Flows {
  readonly #mcp: McpServer;
  readonly #gate: Gate;
  readonly #registrations: Registrations;

  /** Made by `parley.attach(mcp)`. */
  constructor(mcp: McpServer, gate: Gate, registrations: Registrations) {
    this.#mcp = mcp;
    this.#gate = gate;
    this.#registrations = registrations;
  }

  /**
   * Registers a tool.
   *
   * @throws ConfigurationError when the policy makes no sense, or `task` is given and there are no tasks.
   */
  registerTool<
    Output extends StandardSchemaWithJSON,
    Input extends StandardSchemaWithJSON | undefined = undefined,
  >(name: string, config: FlowToolConfig<Input, Output>, handler: FlowToolHandler<Input>): RegisteredTool {
    const { task } = config;
    const [statePolicy, sdkConfig] = splitPolicy(task === undefined ? config : withoutTask(config));
    const policy = task === undefined ? statePolicy : { ...statePolicy, task: this.#taskMode(task) };
    type Callback = (args: unknown, ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>;
    const mcp = this.#mcp as unknown as { registerTool: Register<Callback, RegisteredTool> };
    const registered = mcp.registerTool(
      name,
      sdkConfig,
      this.#callback(config.inputSchema !== undefined, handler, policy),
    );
    this.#registrations.addNamed('tools/call', name, registered);
    lendConverted(this.#mcp, name, registered);
    return registered;
  }

  /**
   * Registers a prompt.
   *
   * @throws ConfigurationError when the policy makes no sense.
   */
  registerPrompt<Args extends StandardSchemaWithJSON | undefined = undefined>(
    name: string,
    config: FlowPromptConfig<Args>,
    handler: FlowPromptHandler<Args>,
  ): RegisteredPrompt {
    const [policy, sdkConfig] = splitPolicy(config);
    type Callback = (args: unknown, ctx: ServerContext) => Promise<GetPromptResult | InputRequiredResult>;
    const mcp = this.#mcp as unknown as { registerPrompt: Register<Callback, RegisteredPrompt> };
    const registered = mcp.registerPrompt(
      name,
      sdkConfig,
      this.#callback(config.argsSchema !== undefined, handler, policy),
    );
    this.#registrations.addNamed('prompts/get', name, registered);
    return registered;
  }

  /**
   * Registers a resource under a URI, or under a template.
   *
   * @throws ConfigurationError when the policy makes no sense.
   */
  registerResource(
    name: string,
    uri: string,
    config: FlowResourceConfig,
    handler: FlowResourceHandler,
  ): RegisteredResource;
  registerResource(
    name: string,
    template: ResourceTemplate,
    config: FlowResourceConfig,
    handler: FlowResourceTemplateHandler,
  ): RegisteredResourceTemplate;
  registerResource(
    name: string,
    target: string | ResourceTemplate,
    config: FlowResourceConfig,
    handler: FlowResourceHandler | FlowResourceTemplateHandler,
  ): RegisteredResource | RegisteredResourceTemplate {
    const [policy, sdkConfig] = splitPolicy(config);
    if (typeof target === 'string') {
      const read = handler as FlowResourceHandler;
      const registered = this.#mcp.registerResource(name, target, sdkConfig, (uri, ctx) =>
        this.#gate.serve((flow) => read(uri, flow), ctx, policy),
      );
      this.#registrations.addNamed('resources/read', new URL(target).toString(), registered);
      return registered;
    }
    const read = handler as FlowResourceTemplateHandler;
    const registered = this.#mcp.registerResource(name, target, sdkConfig, (uri, variables, ctx) =>
      this.#gate.serve((flow) => read(uri, variables, flow), ctx, policy),
    );
    this.#registrations.addTemplate(target, registered);
    return registered;
  }

  #taskMode(task: TaskMode): TaskMode {
    if (task !== 'optional' && task !== 'required') {
      throw new ConfigurationError(`'task' must be 'optional' or 'required'.`);
    }
    if (!this.#gate.hasTasks) throw new ConfigurationError(NO_TASKS);
    return task;
  }

  /** The callback for the SDK, which passes arguments only where there is a schema for them. */
  #callback<T>(
    takesArguments: boolean,
    handler: unknown,
    policy: FlowPolicy,
  ): (args: unknown, ctx: ServerContext) => Promise<T | InputRequiredResult> {
    if (takesArguments) {
      const withArguments = handler as (args: unknown, flow: McpFlow) => MaybePromise<T>;
      return (args, ctx) => this.#gate.serve((flow) => withArguments(args, flow), ctx, policy);
    }
    const bare = handler as (flow: McpFlow) => MaybePromise<T>;
    return (ctx) => this.#gate.serve(bare, ctx as ServerContext, policy);
  }
}

type Register<Callback, Registered> = (name: string, config: object, callback: Callback) => Registered;

function withoutTask<C extends { readonly task?: TaskMode }>(config: C): Omit<C, 'task'> {
  const { task: _task, ...rest } = config;
  return rest;
}

const POLICY_KEYS = ['version', 'accepts', 'expired', 'singleUse', 'ttl', 'deadline'] as const;
const NO_POLICY: StatePolicy = {};

/** Takes our options out of a config: the SDK lists what it is given to clients. */
function splitPolicy<C extends StatePolicy>(config: C): [StatePolicy, Omit<C, keyof StatePolicy>] {
  // Where there are none nothing is copied: a factory registers anew for each request.
  if (!POLICY_KEYS.some((key) => config[key] !== undefined)) return [NO_POLICY, config];
  const { version, accepts, expired, singleUse, ttl, deadline, ...rest } = config;
  checkDuration('ttl', ttl);
  checkDuration('deadline', deadline);
  if (accepts !== undefined && version === undefined) {
    throw new ConfigurationError(
      `'accepts' lists older versions, so the handler needs a 'version' of its own.`,
    );
  }
  return [
    {
      ...(version !== undefined && { version }),
      ...(accepts !== undefined && { accepts }),
      ...(expired !== undefined && { expired }),
      ...(singleUse !== undefined && { singleUse }),
      ...(ttl !== undefined && { ttl }),
      ...(deadline !== undefined && { deadline }),
    },
    rest,
  ];
}
