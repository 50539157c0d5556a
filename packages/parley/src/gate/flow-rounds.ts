import {
  isInputRequiredResult,
  ProtocolError,
  type InputRequiredResult,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { FlowIdentity, FlowState, StatePolicy } from '../carrier/index.js';
import { runFlow, type ClientView, type Flow, type RunOutcome } from '../flow/index.js';
import { encodeBase64url } from '../seal/index.js';
import { clientOf, missingCapabilities } from './client-view.js';
import { declaredCapabilities, isTaskResult, takesTasks, whyNoTask } from './escalation.js';
import type { GateHost, GateParts } from './gate-parts.js';
import { asInputRequests } from './request.js';
import type { Round } from './round.js';
import type { RoundStates } from './round-states.js';
import type { ToolRunner } from './tasks.js';
import { asHandlerError } from './wire-errors.js';

const RETURNED_A_QUESTION =
  'This handler is a flow and returned inputRequired(). Ask with flow.form() and the like, or register it on the server itself.';

const RETURNED_A_TASK = 'This handler is a flow and returned a task. Call flow.detach() instead.';

/** One round of a flow, from which state and as whom. */
export interface FlowRound {
  readonly round: Round;
  /** What the flow goes on from; undefined when it starts, or starts over. */
  readonly state: FlowState | undefined;
  readonly identity: FlowIdentity;
  readonly policy: StatePolicy;
}

/** Runs the rounds of flows on one server, and makes of each outcome what goes out. */
export class FlowRounds {
  readonly #host: GateHost;
  readonly #parts: GateParts;
  readonly #server: Server;
  readonly #states: RoundStates;
  readonly #runner: () => ToolRunner;

  /** @param runner runs the tools of this server in tasks. */
  constructor(host: GateHost, parts: GateParts, states: RoundStates, runner: () => ToolRunner) {
    this.#host = host;
    this.#parts = parts;
    this.#server = parts.server;
    this.#states = states;
    this.#runner = runner;
  }

  /** Runs a handler for one round: its result, the questions that it asks with their state, or the task that it became. */
  async run<T>(
    handler: (flow: Flow<ServerContext>) => T | Promise<T>,
    flowRound: FlowRound,
  ): Promise<T | InputRequiredResult | Result> {
    const { round, state, identity } = flowRound;
    const { ctx } = round;
    const { tasks, keeper, runHost } = this.#parts;
    const { limits, clockSkew, now } = this.#host.settings;
    const client = clientOf(this.#server, ctx);
    const id = (): string => encodeBase64url(identity.flow);
    const restarted = round.opened !== undefined && state === undefined;
    // Made only when it is needed: an error with its stack costs more than the rest of a short round.
    let refusal: unknown;
    const cannotDetach = (): Error => {
      const error = whyNoTask(round.source.method, tasks !== undefined);
      refusal = error;
      return error;
    };
    const canDetach = tasks !== undefined && round.source.method === 'tools/call' && takesTasks(ctx);
    const outcome = await runFlow(handler, {
      id,
      round: identity.round,
      waits: identity.waits,
      journal: state?.journal ?? [],
      asked: state?.asked,
      // Answers that come with a state that is started over are dropped with it: they would count as unasked ones.
      answers: restarted ? undefined : ctx.mcpReq.inputResponses,
      limits,
      client,
      ctx,
      signal: ctx.mcpReq.signal,
      host: runHost,
      once: (request) => keeper().once(id(), identity.deadline + 2 * clockSkew - now(), request),
      detached: canDetach ? 'possible' : undefined,
      cannotDetach,
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
        return await this.#detach(flowRound, outcome);
      case 'suspended':
        return await this.#suspend(flowRound, client, outcome);
    }
  }

  /** Makes a task of the flow: from here on it is answered by the task's methods (TASK-11 to TASK-13). */
  async #detach(
    { round, identity, policy }: FlowRound,
    { options, journal }: Extract<RunOutcome<unknown>, { type: 'detached' }>,
  ): Promise<Result> {
    const { ctx, source } = round;
    const { tasks } = this.#parts;
    if (tasks === undefined) throw new Error('A flow became a task without tasks.');
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
    const { result, created } = await tasks
      .begin(seed, this.#runner())
      .catch((error: unknown) => round.fail(error));
    if (created) this.#host.events.emit('detached', () => round.event(identity));
    return result;
  }

  async #suspend(
    { round, identity, policy }: FlowRound,
    client: ClientView,
    { questions, asked, journal }: Extract<RunOutcome<unknown>, { type: 'suspended' }>,
  ): Promise<InputRequiredResult> {
    const missing =
      round.ctx.mcpReq.envelope === undefined ? undefined : missingCapabilities(questions, client);
    if (missing !== undefined) round.fail(missing);
    const waits = identity.waits + (questions.length === 0 ? 1 : 0);
    const requestState = await this.#states.seal(
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
}

/** @throws Error for results that only the gate may make. */
export function checkResult(value: unknown): void {
  if (isInputRequiredResult(value)) throw new Error(RETURNED_A_QUESTION);
  if (isTaskResult(value)) throw new Error(RETURNED_A_TASK);
}
