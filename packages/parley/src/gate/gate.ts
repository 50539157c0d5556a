import {
  CLIENT_CAPABILITIES_META_KEY,
  isInputRequiredResult,
  ProtocolError,
  type ClientCapabilities,
  type InputRequiredResult,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {
  type Binding,
  type CarriedState,
  type FlowIdentity,
  type FlowState,
  type OpenedState,
  type StatePolicy,
  type TokenCarrier,
} from '../carrier/index.js';
import { StateRejected, TooManyRounds } from '../errors.js';
import { runFlow, type ClientView, type Flow, type RunHost, type RunOutcome } from '../flow/index.js';
import {
  encodeBase64url,
  principalDigest,
  randomBytes,
  requestDigest,
  type PrincipalParts,
} from '../seal/index.js';
import { clientView, missingCapabilities } from './client-view.js';
import { contextFor, pick, roundOf, taskRunOf } from './context.js';
import {
  BecameTask,
  declaredCapabilities,
  detachFirst,
  isTaskResult,
  missingTasks,
  takesTasks,
  whyNoTask,
  type TaskMode,
} from './escalation.js';
import type { Emitter, EventSource, GatedMethod, ParleyEvents } from './events.js';
import type { Keeper } from './keeper.js';
import type { Settings } from './options.js';
import type { Registrations } from './registrations.js';
import type { RejectionLog } from './rejection-log.js';
import { answersDigest, asInputRequests, targetOf, type GatedRequest, type SdkHandler } from './request.js';
import { settled } from './response.js';
import { BindingFailed, Round } from './round.js';
import { toolRunner } from './tool-runner.js';
import type { ServerTasks, ToolRunner } from './tasks.js';
import {
  asHandlerError,
  internalError,
  invalidRequestState,
  ledgerError,
  unbindableArguments,
} from './wire-errors.js';

/** What a handler's author says of its states, and whether its calls are tasks. */
export interface FlowPolicy extends StatePolicy {
  readonly task?: TaskMode;
}

/** What the gates of one process share. */
export interface GateHost {
  readonly settings: Settings;
  readonly events: Emitter<ParleyEvents>;
  readonly rejections: RejectionLog;
  readonly principal: (
    ctx: ServerContext,
  ) => PrincipalParts | string | null | Promise<PrincipalParts | string | null>;
}

/** What one server's gate is made of. */
export interface GateParts {
  readonly carrier: TokenCarrier;
  readonly keeper: () => Keeper;
  readonly server: Server;
  readonly registrations: Registrations;
  readonly runHost: RunHost;
  readonly tasks: ServerTasks | undefined;
}

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

const RETURNED_A_QUESTION =
  'This handler is a flow and returned inputRequired(). Ask with flow.form() and the like, or register it on the server itself.';

const RETURNED_A_TASK = 'This handler is a flow and returned a task. Call flow.detach() instead.';

/**
 * The seam in front of one server's handlers: opens what comes in before anything runs, and seals what goes
 * out. It stands where `setRequestHandler` puts handlers, outside of the SDK's own wrapping of tools, so that
 * an error thrown here is a JSON-RPC error.
 */
export class Gate {
  readonly #host: GateHost;
  readonly #carrier: TokenCarrier;
  readonly #server: Server;
  readonly #registrations: Registrations;
  readonly #keeper: () => Keeper;
  readonly #runHost: RunHost;
  readonly #tasks: ServerTasks | undefined;
  #callTool: SdkHandler | undefined;
  #runner: ToolRunner | undefined;

  constructor(host: GateHost, { carrier, keeper, server, registrations, runHost, tasks }: GateParts) {
    this.#host = host;
    this.#carrier = carrier;
    this.#keeper = keeper;
    this.#server = server;
    this.#registrations = registrations;
    this.#runHost = runHost;
    this.#tasks = tasks;
  }

  /** Whether calls on this server can become tasks. */
  get hasTasks(): boolean {
    return this.#tasks !== undefined;
  }

  /** Runs the flow tools of this server outside of requests. */
  get runner(): ToolRunner {
    return (this.#runner ??= toolRunner({
      server: this.#server,
      has: (tool) => this.#registrations.mayBeFlow('tools/call', tool),
      handler: () => this.#callTool,
    }));
  }

  /** Wraps a handler of a gated method. */
  wrap(method: GatedMethod, handler: SdkHandler): SdkHandler {
    if (method === 'tools/call') this.#callTool = handler;
    return async (request, ctx) => {
      const source = { method, target: targetOf(method, request) };
      const round = await this.#open(source, request, ctx);
      const { opened } = round;
      const handle = (): Promise<Result> => this.#handle(handler, request, round);
      // A flow's round is claimed by `serve`, which knows its policy.
      if (opened?.state.kind !== 'plain' || !this.#host.settings.singleUse) return await handle();
      const identity = { ...opened, round: opened.round + 1 };
      return await this.#answerOnce(round, opened, identity, handle).catch((error: unknown) => {
        throw this.#asWireError(source, error);
      });
    };
  }

  /**
   * Runs a flow for the request that the SDK called its callback for.
   *
   * @param ctx the context that the callback got: it leads to the round.
   */
  async serve<T>(
    handler: (flow: Flow<ServerContext>) => T | Promise<T>,
    ctx: ServerContext,
    policy: FlowPolicy,
  ): Promise<T | InputRequiredResult> {
    const taskRun = taskRunOf(ctx);
    if (taskRun !== undefined) {
      const value = await taskRun.serve(
        policy.task === undefined ? handler : detachFirst(handler),
        ctx,
        policy,
      );
      checkResult(value);
      return value as T;
    }
    const round = roundOf(ctx);
    if (round === undefined) {
      throw new Error('A flow was called with a context that did not come through its server.');
    }
    const state = this.#admit(round, policy);
    // Before the first step: work must not be done for a request whose state could not be bound afterwards.
    await round.bind().catch((error: unknown) => round.fail(this.#bindingError(round.source, error)));
    const takes = takesTasks(ctx);
    if (policy.task === 'required' && !takes) round.fail(missingTasks());
    const asked = policy.task !== undefined && takes ? detachFirst(handler) : handler;
    const identity = this.#identityOf(round, state, policy);
    const run = (): Promise<T | InputRequiredResult | Result> =>
      this.#run(asked, round, state, identity, policy);
    const { opened } = round;
    try {
      if (
        opened === undefined ||
        state === undefined ||
        !(policy.singleUse ?? this.#host.settings.singleUse)
      ) {
        return this.#unlessTask(round, await run());
      }
      const response = this.#unlessTask(round, await this.#answerOnce(round, opened, identity, run));
      round.sealed = isInputRequiredResult(response);
      return response;
    } catch (error) {
      const onTheWire = this.#asWireError(round.source, error);
      if (onTheWire !== error) round.fail(onTheWire);
      throw error;
    }
  }

  /** A task is left for the wire: the SDK would hold it against the tool's output schema. */
  #unlessTask<T>(round: Round, response: T | InputRequiredResult | Result): T | InputRequiredResult {
    if (!isTaskResult(response)) return response;
    round.task = response;
    throw new BecameTask();
  }

  async #run<T>(
    handler: (flow: Flow<ServerContext>) => T | Promise<T>,
    round: Round,
    state: FlowState | undefined,
    identity: FlowIdentity,
    policy: StatePolicy,
  ): Promise<T | InputRequiredResult | Result> {
    const { ctx } = round;
    const { limits, clockSkew, now } = this.#host.settings;
    const id = (): string => encodeBase64url(identity.flow);
    const restarted = round.opened !== undefined && state === undefined;
    // Made only when it is needed: an error with its stack costs more than the rest of a short round.
    let refusal: unknown;
    const cannotDetach = (): Error => {
      const error = whyNoTask(round.source.method, this.hasTasks);
      refusal = error;
      return error;
    };
    const canDetach = this.hasTasks && round.source.method === 'tools/call' && takesTasks(ctx);
    const outcome = await runFlow(handler, {
      id,
      round: identity.round,
      waits: identity.waits,
      journal: state?.journal ?? [],
      asked: state?.asked,
      // Answers that come with a state that is started over are dropped with it: they would count as unasked ones.
      answers: restarted ? undefined : ctx.mcpReq.inputResponses,
      limits,
      client: this.#clientOf(ctx),
      ctx,
      signal: ctx.mcpReq.signal,
      host: this.#runHost,
      once: (request) => this.#keeper().once(id(), identity.deadline + 2 * clockSkew - now(), request),
      ...(canDetach ? { detached: 'possible' } : { cannotDetach }),
    });
    switch (outcome.type) {
      case 'completed':
        checkResult(outcome.value);
        this.#host.events.emit('completed', () => ({ ...round.event(identity), failed: false }));
        return outcome.value;
      case 'failed':
        this.#host.events.emit('completed', () => ({ ...round.event(identity), failed: true }));
        if (outcome.error instanceof ProtocolError && outcome.error === refusal) round.fail(refusal);
        throw asHandlerError(round, outcome.error);
      case 'detached':
        return await this.#detach(round, identity, policy, outcome);
      case 'suspended':
        return await this.#suspend(round, identity, policy, outcome);
    }
  }

  /** Makes a task of the flow: from here on it is answered by the task's methods (TASK-11 to TASK-13). */
  async #detach(
    round: Round,
    identity: FlowIdentity,
    policy: StatePolicy,
    { options, journal }: Extract<RunOutcome<unknown>, { type: 'detached' }>,
  ): Promise<Result> {
    const { ctx, source } = round;
    if (this.#tasks === undefined) throw new Error('A flow became a task without tasks.');
    const seed = {
      identity,
      binding: await round.bind(),
      tool: source.target,
      args: round.args,
      capabilities: declaredCapabilities(ctx) ?? {},
      ctx,
      policy,
      journal,
      options,
    };
    const { result, created } = await this.#tasks
      .begin(seed, this.runner)
      .catch((error: unknown) => round.fail(error));
    if (created) this.#host.events.emit('detached', () => round.event(identity));
    return result;
  }

  async #handle(handler: SdkHandler, request: GatedRequest, round: Round): Promise<Result> {
    const result = await handler(request, contextFor(round)).catch((error: unknown) => {
      if (round.task !== undefined) return round.task;
      throw round.failure === undefined ? error : round.failure.error;
    });
    if (round.task !== undefined) return round.task;
    if (round.failure !== undefined) throw round.failure.error;
    if (round.sealed || !isInputRequiredResult(result) || typeof result.requestState !== 'string')
      return result;
    return await this.#sealByHand(round, result);
  }

  /** Answers a single-use round: with its stored response, or by doing it (STATE-08). */
  async #answerOnce<T>(
    round: Round,
    opened: OpenedState,
    identity: FlowIdentity,
    run: () => Promise<T>,
  ): Promise<T> {
    const { now, clockSkew } = this.#host.settings;
    const answers = pick(round.ctx.mcpReq.inputResponses ?? {}, opened);
    const id = [encodeBase64url(opened.flow), opened.round] as const;
    // The skew once for who presents it, and once for who makes the record.
    const left = opened.expires + 2 * clockSkew - now();
    const digest = answersDigest(...id, answers);
    const { response, repeated } = await this.#keeper().round(id, digest, left, () => settled(round, run));
    if (repeated) this.#host.events.emit('repeated', () => round.event(identity));
    if (!('error' in response)) return response.result;
    const { code, message, data } = response.error;
    throw new ProtocolError(code, message, data);
  }

  /** What goes out as a JSON-RPC error, past the SDK's wrapping of tools; any other error as it is. */
  #asWireError(source: EventSource, error: unknown): unknown {
    if (error instanceof StateRejected) return this.#rejection(source, error);
    return ledgerError(error) ?? error;
  }

  async #open(source: EventSource, request: GatedRequest, ctx: ServerContext): Promise<Round> {
    const bind = once(() => this.#bind(source, request, ctx));
    const token: unknown = ctx.mcpReq.requestState();
    const args: unknown = request.params?.arguments;
    if (token === undefined) return new Round({ source, ctx, args, opened: undefined, bind });
    try {
      const opened = await this.#carrier.open(token, bind);
      if (opened.state.kind === 'plain') this.#carrier.admit(opened, 'plain', {});
      // Which flow, and so which policy, only the SDK's dispatch will tell; see `serve`.
      else if (!this.#registrations.mayBeFlow(source.method, source.target)) throw new StateRejected('kind');
      const round = new Round({ source, ctx, args, opened, bind });
      if (opened.state.kind === 'plain') this.#emitOpened(round, opened);
      return round;
    } catch (error) {
      throw this.#rejection(source, error);
    }
  }

  /** What the flow goes on from: its state, or nothing when it starts, or starts over. */
  #admit(round: Round, policy: StatePolicy): FlowState | undefined {
    const { opened } = round;
    if (opened === undefined) return undefined;
    try {
      if (this.#carrier.admit(opened, 'flow', policy) === 'restart') return undefined;
    } catch (error) {
      round.fail(this.#rejection(round.source, error));
    }
    this.#emitOpened(round, opened);
    return opened.state.kind === 'flow' ? opened.state : undefined;
  }

  #identityOf({ opened }: Round, state: CarriedState | undefined, policy: StatePolicy): FlowIdentity {
    if (opened === undefined || state === undefined) return this.#carrier.begin(randomBytes(16), policy);
    const { flow, round, waits, deadline } = opened;
    return { flow, round: round + 1, waits, deadline };
  }

  /** Tells the log and the listeners why, and the client nothing. */
  #rejection(source: EventSource, error: unknown): ProtocolError {
    const unavailable = ledgerError(error);
    if (unavailable !== undefined) return unavailable;
    if (!(error instanceof StateRejected) && !(error instanceof BindingFailed)) {
      this.#host.settings.logger.warn(`parley: opening a requestState failed: ${describe(error)}`);
      return internalError();
    }
    const reason = error instanceof BindingFailed ? error.part : error.reason;
    this.#host.events.emit('rejected', () => ({ ...source, reason }));
    this.#host.rejections.note(source, reason, error.cause);
    return invalidRequestState();
  }

  /** A request that has no state yet and cannot be bound to one: it is at fault, or the server is. */
  #bindingError(source: EventSource, error: unknown): unknown {
    if (!(error instanceof BindingFailed)) return error;
    if (error.part === 'request') return unbindableArguments(error.cause);
    this.#host.rejections.note(source, 'principal', error.cause);
    return internalError();
  }

  async #bind(source: EventSource, request: GatedRequest, ctx: ServerContext): Promise<Binding> {
    const args = request.params?.arguments;
    let digest: Uint8Array;
    try {
      digest = requestDigest({ ...source, arguments: args }, this.#host.settings.limits.argumentsDepth);
    } catch (error) {
      throw new BindingFailed('request', error);
    }
    try {
      return { request: digest, principal: principalDigest(await this.#host.principal(ctx)) };
    } catch (error) {
      throw new BindingFailed('principal', error);
    }
  }

  async #suspend<T>(
    round: Round,
    identity: FlowIdentity,
    policy: StatePolicy,
    { questions, asked, journal }: Extract<RunOutcome<T>, { type: 'suspended' }>,
  ): Promise<InputRequiredResult> {
    const missing =
      round.ctx.mcpReq.envelope === undefined
        ? undefined
        : missingCapabilities(questions, this.#clientOf(round.ctx));
    if (missing !== undefined) round.fail(missing);
    const waits = identity.waits + (questions.length === 0 ? 1 : 0);
    const requestState = await this.#seal(
      round,
      { ...identity, waits },
      { kind: 'flow', asked, journal },
      policy,
    );
    round.sealed = true;
    this.#host.events.emit('suspended', () => ({
      ...round.event(identity),
      questions: questions.map(({ key }) => key),
    }));
    return questions.length === 0
      ? { resultType: 'input_required', requestState }
      : { resultType: 'input_required', inputRequests: asInputRequests(questions), requestState };
  }

  /** Seals the state of a handler that was written by hand with the SDK's `inputRequired()`. */
  async #sealByHand(round: Round, result: InputRequiredResult): Promise<Result> {
    const { rounds } = this.#host.settings.limits;
    const identity = this.#identityOf(round, round.opened?.state, {});
    if (identity.round >= rounds) throw new TooManyRounds('rounds', rounds);
    const asked = Object.keys(result.inputRequests ?? {}).map((key) => ({ key, digest: '' }));
    await round.bind().catch((error: unknown) => round.fail(this.#bindingError(round.source, error)));
    const text = result.requestState ?? '';
    return { ...result, requestState: await this.#seal(round, identity, { kind: 'plain', asked, text }, {}) };
  }

  async #seal(
    round: Round,
    identity: FlowIdentity,
    state: CarriedState,
    policy: StatePolicy,
  ): Promise<string> {
    const trace: unknown = round.ctx.mcpReq._meta?.['traceparent'];
    const { token, expires } = await this.#carrier.seal(
      state,
      identity,
      await round.bind(),
      policy,
      typeof trace === 'string' && TRACEPARENT.test(trace) ? trace : undefined,
    );
    this.#host.events.emit('sealed', () => ({ ...round.event(identity), bytes: token.length, expires }));
    return token;
  }

  #clientOf(ctx: ServerContext): ClientView {
    const { envelope } = ctx.mcpReq;
    // A request of 2026-07-28 says for itself what its client can do; an older connection said it once, at its start.
    if (envelope === undefined) return clientView(this.#server.getClientCapabilities());
    const declared = (envelope as Record<string, unknown>)[CLIENT_CAPABILITIES_META_KEY];
    return clientView(declared as ClientCapabilities | undefined);
  }

  #emitOpened(round: Round, opened: OpenedState): void {
    const { kid, current, position, trace } = opened;
    this.#host.events.emit('opened', () => ({
      ...round.event({ ...opened, round: opened.round + 1 }),
      kid,
      ...(trace !== undefined && { trace }),
    }));
    if (!current) this.#host.events.emit('keyUsed', () => ({ kid, position }));
  }
}

/** @throws Error for results that only the gate may make. */
function checkResult(value: unknown): void {
  if (isInputRequiredResult(value)) throw new Error(RETURNED_A_QUESTION);
  if (isTaskResult(value)) throw new Error(RETURNED_A_TASK);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
