import {
  CLIENT_CAPABILITIES_META_KEY,
  isInputRequiredResult,
  type ClientCapabilities,
  type InputRequests,
  type InputRequiredResult,
  type ProtocolError,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { StateRejected, TooManyRounds } from '../errors.js';
import {
  runFlow,
  runtimeScheduler,
  type ClientView,
  type Flow,
  type KeyedQuestion,
  type RunHost,
} from '../flow/index.js';
import type { Binding, CarriedState, FlowIdentity, OpenedState, TokenCarrier } from '../carrier/index.js';
import {
  encodeBase64url,
  principalDigest,
  requestDigest,
  sha256,
  type PrincipalParts,
} from '../seal/index.js';
import { clientView } from './client-view.js';
import type { Emitter, EventSource, GatedMethod, ParleyEvents } from './events.js';
import type { Settings } from './options.js';
import type { Registrations } from './registrations.js';
import type { RejectionLog } from './rejection-log.js';
import { BindingFailed, Round } from './round.js';
import { asHandlerError, internalError, invalidRequestState, unbindableArguments } from './wire-errors.js';

/** What the gates of one process share. */
export interface GateHost {
  readonly settings: Settings;
  readonly events: Emitter<ParleyEvents>;
  readonly rejections: RejectionLog;
  readonly principal: (
    ctx: ServerContext,
  ) => PrincipalParts | string | null | Promise<PrincipalParts | string | null>;
}

/** A handler of the SDK, as it stands behind `setRequestHandler`. */
export type SdkHandler = (request: GatedRequest, ctx: ServerContext) => Result | Promise<Result>;

/** The parts of the three requests that are looked at here. */
export interface GatedRequest {
  readonly params: { readonly name?: string; readonly uri?: string; readonly arguments?: unknown };
}

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** Enough of SHA-256 that no two questions are found that share it: 132 bits. */
const QUESTION_DIGEST_LENGTH = 22;

function questionDigest(text: string): string {
  return encodeBase64url(sha256(text)).slice(0, QUESTION_DIGEST_LENGTH);
}

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
  readonly #runHost: RunHost;
  readonly #rounds = new WeakMap<ServerContext, Round>();

  constructor(host: GateHost, carrier: TokenCarrier, server: Server, registrations: Registrations) {
    this.#host = host;
    this.#carrier = carrier;
    this.#server = server;
    this.#registrations = registrations;
    this.#runHost = {
      now: host.settings.now,
      random: Math.random,
      uuid: () => globalThis.crypto.randomUUID(),
      digest: questionDigest,
      scheduler: runtimeScheduler,
      warn: (message) => host.settings.logger.warn(`parley: ${message}`),
    };
  }

  /** Wraps a handler of a gated method. */
  wrap(method: GatedMethod, handler: SdkHandler): SdkHandler {
    return async (request, ctx) => {
      const target = request.params.name ?? request.params.uri ?? '';
      const round = await this.#open({ method, target }, request, ctx);
      const innerCtx = contextFor(round);
      this.#rounds.set(innerCtx, round);
      const result = await handler(request, innerCtx);
      if (round.failure !== undefined) throw round.failure.error;
      if (round.sealed || !isInputRequiredResult(result) || typeof result.requestState !== 'string')
        return result;
      return await this.#sealByHand(round, result);
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
  ): Promise<T | InputRequiredResult> {
    const round = this.#rounds.get(ctx);
    if (round === undefined) {
      throw new Error('A flow was called with a context that did not come through its server.');
    }
    const state = round.opened;
    const outcome = await runFlow(handler, {
      id: () => round.flowId,
      round: round.number,
      journal: state?.kind === 'flow' ? state.journal : [],
      asked: state?.asked,
      answers: round.answers,
      limits: this.#host.settings.limits,
      client: this.#clientOf(ctx),
      ctx,
      signal: ctx.mcpReq.signal,
      host: this.#runHost,
    });
    switch (outcome.type) {
      case 'completed':
        this.#emitCompleted(round, false);
        return outcome.value;
      case 'failed':
        this.#emitCompleted(round, true);
        throw asHandlerError(round, outcome.error);
      case 'suspended':
        return await this.#suspend(round, outcome.questions, {
          kind: 'flow',
          asked: outcome.asked,
          journal: outcome.journal,
        });
    }
  }

  async #open(source: EventSource, request: GatedRequest, ctx: ServerContext): Promise<Round> {
    const found = this.#registrations.find(source.method, source.target);
    const policy = found ?? {};
    const bind = once(() => this.#bind(source, request, ctx));
    const begin = (flow: Uint8Array): FlowIdentity => this.#carrier.begin(flow, policy);
    const roundWith = (opened: OpenedState | undefined, answers: unknown): Round =>
      new Round({ source, ctx, policy, opened, answers, bind, begin });

    const token: unknown = ctx.mcpReq.requestState();
    if (token === undefined) return roundWith(undefined, ctx.mcpReq.inputResponses);
    try {
      const result = await this.#carrier.open(token, {
        kind: found === undefined ? 'plain' : 'flow',
        policy,
        bind,
      });
      // Answers that come with a stale state are dropped with it: they would count as answers to a first request.
      if (result.type === 'restart') return roundWith(undefined, undefined);
      const round = roundWith(result.state, ctx.mcpReq.inputResponses);
      this.#emitOpened(round, result.state);
      return round;
    } catch (error) {
      throw this.#rejection(source, error);
    }
  }

  /** Tells the log and the listeners why, and the client nothing. */
  #rejection(source: EventSource, error: unknown): ProtocolError {
    if (!(error instanceof StateRejected) && !(error instanceof BindingFailed)) {
      this.#host.settings.logger.warn(`parley: opening a requestState failed: ${describe(error)}`);
      return internalError();
    }
    if (error instanceof BindingFailed && error.part === 'principal') this.#warnOfPrincipal(error);
    const reason = error instanceof BindingFailed ? error.part : error.reason;
    this.#host.events.emit('rejected', { ...source, reason });
    this.#host.rejections.note(source, reason);
    return invalidRequestState();
  }

  async #bind(source: EventSource, request: GatedRequest, ctx: ServerContext): Promise<Binding> {
    const { arguments: args } = request.params;
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

  async #suspend(
    round: Round,
    questions: readonly KeyedQuestion[],
    state: CarriedState,
  ): Promise<InputRequiredResult> {
    const requestState = await this.#seal(round, state).catch((error: unknown) => {
      const failure = this.#sealingError(error);
      if (failure !== error) round.failure = { error: failure };
      throw failure;
    });
    round.sealed = true;
    this.#host.events.emit('suspended', { ...round.event, questions: questions.map(({ key }) => key) });
    return questions.length === 0
      ? { resultType: 'input_required', requestState }
      : { resultType: 'input_required', inputRequests: asInputRequests(questions), requestState };
  }

  /** Seals the state of a handler that was written by hand with the SDK's `inputRequired()`. */
  async #sealByHand(round: Round, result: InputRequiredResult): Promise<Result> {
    const { rounds } = this.#host.settings.limits;
    if (round.number >= rounds) throw new TooManyRounds(rounds);
    const asked = Object.keys(result.inputRequests ?? {}).map((key) => ({ key, digest: '' }));
    const text = result.requestState ?? '';
    const requestState = await this.#seal(round, { kind: 'plain', asked, text }).catch((error: unknown) => {
      throw this.#sealingError(error);
    });
    return { ...result, requestState };
  }

  async #seal(round: Round, state: CarriedState): Promise<string> {
    const trace: unknown = round.ctx.mcpReq._meta?.['traceparent'];
    const { token, expires } = await this.#carrier.seal(
      state,
      round.identity,
      await round.binding(),
      round.policy,
      typeof trace === 'string' && TRACEPARENT.test(trace) ? trace : undefined,
    );
    this.#host.events.emit('sealed', { ...round.event, bytes: token.length, expires });
    return token;
  }

  /** What a state that could not be sealed means on the wire: the request is at fault, or the server is. */
  #sealingError(error: unknown): unknown {
    if (!(error instanceof BindingFailed)) return error;
    if (error.part === 'request') return unbindableArguments(error.cause);
    this.#warnOfPrincipal(error);
    return internalError();
  }

  #warnOfPrincipal(error: BindingFailed): void {
    this.#host.settings.logger.warn(`parley: options.principal failed: ${describe(error.cause)}`);
  }

  #clientOf(ctx: ServerContext): ClientView {
    const { envelope } = ctx.mcpReq;
    // A request of 2026-07-28 says for itself what its client can do; an older connection said it once, at its start.
    if (envelope === undefined) return clientView(this.#server.getClientCapabilities());
    const declared = (envelope as Record<string, unknown>)[CLIENT_CAPABILITIES_META_KEY];
    return clientView(declared as ClientCapabilities | undefined);
  }

  #emitOpened(round: Round, { kid, current, position, trace }: OpenedState): void {
    this.#host.events.emit('opened', { ...round.event, kid, ...(trace !== undefined && { trace }) });
    if (!current) this.#host.events.emit('keyUsed', { kid, position });
  }

  #emitCompleted(round: Round, failed: boolean): void {
    if (this.#host.events.has('completed')) this.#host.events.emit('completed', { ...round.event, failed });
  }
}

/** What a handler sees of the wire: the plain text of its own state, and answers that it asked for. */
function contextFor({ ctx, opened }: Round): ServerContext {
  const { inputResponses } = ctx.mcpReq;
  if (opened === undefined && inputResponses === undefined) return ctx;
  const text = opened?.kind === 'plain' ? opened.text : undefined;
  const answers = inputResponses === undefined ? undefined : { inputResponses: pick(inputResponses, opened) };
  return {
    ...ctx,
    mcpReq: { ...ctx.mcpReq, ...answers, requestState: <T>() => text as T | undefined },
  };
}

/** The answers under keys that were asked, on an object without a prototype: what the SDK gives may have a forged one. */
function pick(answers: Record<string, unknown>, opened: OpenedState | undefined): Record<string, unknown> {
  const keys = opened?.asked.map(({ key }) => key) ?? Object.keys(answers);
  const picked = Object.create(null) as Record<string, unknown>;
  for (const key of keys) if (Object.hasOwn(answers, key)) picked[key] = answers[key];
  return picked;
}

function asInputRequests(questions: readonly KeyedQuestion[]): InputRequests {
  const entries = questions.map(
    ({ key, question: { method, params } }) => [key, { method, params }] as const,
  );
  return Object.fromEntries(entries) as unknown as InputRequests;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
