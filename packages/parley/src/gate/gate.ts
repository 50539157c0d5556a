import {
  isInputRequiredResult,
  ProtocolError,
  type InputRequiredResult,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { FlowIdentity, OpenedState } from '../carrier/index.js';
import type { Flow } from '../flow/index.js';
import { encodeBase64url } from '../seal/index.js';
import { binderOf } from './binding.js';
import { contextFor, pick, roundOf, taskRunOf } from './context.js';
import { BecameTask, detachFirst, isTaskResult, missingTasks, takesTasks } from './escalation.js';
import type { GatedMethod } from './events.js';
import { checkResult, FlowRounds } from './flow-rounds.js';
import type { FlowPolicy, GateHost, GateParts } from './gate-parts.js';
import { Refusals } from './refusals.js';
import { answersDigest, targetOf, type GatedRequest, type SdkHandler } from './request.js';
import { settled } from './response.js';
import { Round } from './round.js';
import { RoundStates } from './round-states.js';
import { toolRunner } from './tool-runner.js';
import type { TaskRun, ToolRunner } from './tasks.js';

/**
 * The seam in front of one server's handlers: opens what comes in before anything runs, and seals what goes
 * out. It stands where `setRequestHandler` puts handlers, outside of the SDK's own wrapping of tools, so that
 * an error thrown here is a JSON-RPC error.
 */
export class Gate {
  readonly #host: GateHost;
  readonly #parts: GateParts;
  readonly #refusals: Refusals;
  readonly #states: RoundStates;
  readonly #flowRounds: FlowRounds;
  #callTool: SdkHandler | undefined;
  #runner: ToolRunner | undefined;

  constructor(host: GateHost, parts: GateParts) {
    this.#host = host;
    this.#parts = parts;
    this.#refusals = new Refusals(host);
    this.#states = new RoundStates(host, parts, this.#refusals);
    this.#flowRounds = new FlowRounds(host, parts, this.#states, () => this.runner);
  }

  /** Whether calls on this server can become tasks. */
  get hasTasks(): boolean {
    return this.#parts.tasks !== undefined;
  }

  /** Runs the flow tools of this server outside of requests. */
  get runner(): ToolRunner {
    const { server, registrations } = this.#parts;
    return (this.#runner ??= toolRunner({
      server,
      has: (tool) => registrations.mayBeFlow('tools/call', tool),
      handler: () => this.#callTool,
    }));
  }

  /** Wraps a handler of a gated method. */
  wrap(
    method: GatedMethod,
    handler: SdkHandler,
  ): (request: GatedRequest, ctx: ServerContext) => Promise<Result> {
    if (method === 'tools/call') this.#callTool = handler;
    return async (request, ctx) => {
      const source = { method, target: targetOf(method, request) };
      const args: unknown = request.params?.arguments;
      const bind = binderOf(this.#host, source, args, ctx);
      const token: unknown = ctx.mcpReq.requestState();
      const opened = token === undefined ? undefined : await this.#states.open(source, token, bind);
      const round = new Round({ source, ctx, args, opened, bind });
      const handle = (): Promise<Result> => this.#handle(handler, request, round);
      // A flow's round is told of and claimed by `serve`, which knows its policy.
      if (opened?.state.kind !== 'plain') return await handle();
      this.#states.tellOpened(round, opened);
      if (!this.#host.settings.singleUse) return await handle();
      const identity = { ...opened, round: opened.round + 1 };
      return await this.#answerOnce(round, opened, identity, handle).catch((error: unknown) => {
        throw this.#refusals.ofRound(source, error);
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
    if (taskRun !== undefined) return await serveInTask(taskRun, handler, ctx, policy);
    const round = roundOf(ctx);
    if (round === undefined) {
      throw new Error('A flow was called with a context that did not come through its server.');
    }
    const state = this.#states.admit(round, policy);
    // Before the first step: work must not be done for a request whose state could not be bound afterwards.
    const binding = this.#states.bind(round);
    if (binding !== undefined) await binding;
    const asTask = policy.task !== undefined && takesTasks(ctx);
    if (policy.task === 'required' && !asTask) round.fail(missingTasks());
    const asked = asTask ? detachFirst(handler) : handler;
    const identity = this.#states.identityOf(round, state, policy);
    const run = (): Promise<T | InputRequiredResult | Result> =>
      this.#flowRounds.run(asked, { round, state, identity, policy });
    const { opened } = round;
    try {
      if (
        opened === undefined ||
        state === undefined ||
        !(policy.singleUse ?? this.#host.settings.singleUse)
      ) {
        return unlessTask(round, await run());
      }
      const response = unlessTask(round, await this.#answerOnce(round, opened, identity, run));
      round.sealed = isInputRequiredResult(response);
      return response;
    } catch (error) {
      const onTheWire = this.#refusals.ofRound(round.source, error);
      if (onTheWire !== error) round.fail(onTheWire);
      throw error;
    }
  }

  async #handle(handler: SdkHandler, request: GatedRequest, round: Round): Promise<Result> {
    let result: Result;
    try {
      result = await handler(request, contextFor(round));
    } catch (error) {
      if (round.task !== undefined) return round.task;
      throw round.failure === undefined ? error : round.failure.error;
    }
    if (round.task !== undefined) return round.task;
    if (round.failure !== undefined) throw round.failure.error;
    if (round.sealed || !isInputRequiredResult(result) || typeof result.requestState !== 'string')
      return result;
    return await this.#states.sealByHand(round, result);
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
    const keeper = this.#parts.keeper();
    const { response, repeated } = await keeper.round(id, digest, left, () => settled(round, run));
    if (repeated) this.#host.events.emit('repeated', () => round.event(identity));
    if (!('error' in response)) return response.result;
    const { code, message, data } = response.error;
    throw new ProtocolError(code, message, data);
  }
}

/** Runs a flow in its task: there is no round, and no state to open or seal. */
async function serveInTask<T>(
  taskRun: TaskRun,
  handler: (flow: Flow<ServerContext>) => T | Promise<T>,
  ctx: ServerContext,
  policy: FlowPolicy,
): Promise<T> {
  const value = await taskRun.serve(policy.task === undefined ? handler : detachFirst(handler), ctx, policy);
  checkResult(value);
  return value as T;
}

/** A task is left for the wire: the SDK would hold it against the tool's output schema. */
function unlessTask<T>(round: Round, response: T | InputRequiredResult | Result): T | InputRequiredResult {
  if (!isTaskResult(response)) return response;
  round.task = response;
  throw new BecameTask();
}
