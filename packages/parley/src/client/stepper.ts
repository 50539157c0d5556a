import type { Client, ClientCapabilities, InputResponses } from '@modelcontextprotocol/client';
import { ConfigurationError, RetryUnknown, TaskCancelled } from '../errors.js';
import { quoteName } from '../quote-name.js';
import { afterRound } from './after-round.js';
import { bound } from './bounds.js';
import { wholeClock, type Clock } from './clock.js';
import { plainIdentity, requireSame, type ServerIdentity } from './identity.js';
import { capabilitiesFor, QUESTION_KINDS, undeclared, type QuestionKind } from './question.js';
import { plainRequest, type DrivenMethod, type DrivenResult, type GivenRequest } from './request.js';
import { responsesTo, type AnswersByKey } from './responses.js';
import { retryFailure } from './retry-failure.js';
import { FLOW_VERSION, loadFlow, type SavedFlow } from './saved-flow.js';
import {
  checkSettings,
  exchange,
  firstFailure,
  stopped,
  type Failed,
  type Incoming,
  type RequestSettings,
} from './send.js';
import { becomeTask, isTaskFlow, TaskSteps, type TaskFlow } from './task-steps.js';

/** What a stepper needs to know. */
export interface StepperOptions {
  /** Which server the client is connected to, as the host configured it. */
  readonly server: ServerIdentity;
  /** What can be answered. This is declared with every request, and all else that is asked fails the call. */
  readonly kinds: readonly QuestionKind[];
  /** Capabilities to declare beside those (other extensions, `sampling.tools`). */
  readonly capabilities?: ClientCapabilities | undefined;
  /** Whether the server may make a task of a call: the extension is declared then. Default true. */
  readonly tasks?: boolean | undefined;
  /** Bytes of UTF-8 that a server's state may take; more is an invalid response. Default 1 MiB. */
  readonly maxStateBytes?: number | undefined;
  /** Options of every request: its time-out (ms), progress. */
  readonly request?: RequestSettings | undefined;
  /** Time; the machine's by default. */
  readonly clock?: Clock | undefined;
}

/** Where a call stands after a round. */
export type Step<M extends DrivenMethod = DrivenMethod> =
  | { readonly type: 'result'; readonly result: DrivenResult<M> }
  /**
   * Answer `flow.questions` with {@link Stepper.next}; without any, call it with no answers after a pause. With
   * `flow.task`, that pause is `flow.task.pollIntervalMs`, or a second where that is absent.
   */
  | { readonly type: 'pending'; readonly flow: SavedFlow<M> };

/** What may be said of one step. */
export interface StepOptions {
  /** Cancels the request that is under way. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the flow, marked as sent, before a request of the call leaves, which waits for that: the place to save
   * it. When it throws, nothing is sent. Not called for what is asked about a task, which may be sent again.
   */
  readonly beforeSend?: ((sent: SavedFlow) => Promise<void> | void) | undefined;
}

/** What may be said of a retry. */
export interface NextOptions extends StepOptions {
  /** Send a request again of which nobody knows whether the first one took effect. */
  readonly resend?: boolean | undefined;
}

const DEFAULT_STATE_BYTES = 1024 * 1024;

/**
 * A call, one request at a time, over a client of 2026-07-28 or later. It holds nothing between the steps: all of a
 * call's state is the {@link SavedFlow}, which may be stored, and continued by another stepper in another process.
 *
 * On a connection of an earlier revision the server asks while its request is open, so a call ends with its first
 * step, and the client's own handlers are asked. `drive` asks its handlers on both.
 */
export class Stepper {
  readonly #client: Client;
  readonly #server: ServerIdentity;
  readonly #capabilities: ClientCapabilities;
  readonly #mayBeTask: boolean;
  readonly #maxStateBytes: number;
  readonly #settings: RequestSettings;
  readonly #clock: Clock;
  readonly #tasks: TaskSteps;

  /** @throws ConfigurationError when an option is wrong. */
  constructor(client: Client, options: StepperOptions) {
    const { kinds, capabilities, tasks = true, maxStateBytes = DEFAULT_STATE_BYTES, request = {} } = options;
    if (!Array.isArray(kinds) || !kinds.every((kind) => QUESTION_KINDS.includes(kind))) {
      throw new ConfigurationError(`kinds is a list of ${QUESTION_KINDS.join(', ')}.`);
    }
    checkSettings(request);
    this.#client = client;
    this.#server = plainIdentity(options.server);
    this.#capabilities = capabilitiesFor(new Set(kinds), capabilities);
    this.#mayBeTask = tasks;
    this.#maxStateBytes = bound('maxStateBytes', maxStateBytes);
    this.#settings = request;
    this.#clock = wholeClock(options.clock);
    this.#tasks = new TaskSteps({
      client,
      declared: this.#capabilities,
      settings: this.#settings,
      clock: this.#clock,
    });
  }

  /**
   * Sends the first request of a call.
   *
   * @throws ConfigurationError when the request cannot be driven, or the client is not connected.
   * @throws InvalidResponse, UnsafeUrl when the server asks what it must not.
   * @throws CallStopped when the signal aborts, DriveLimit when the request timed out.
   * @throws the client's other errors, where the request failed.
   */
  async begin<M extends DrivenMethod>(request: GivenRequest<M>, options?: StepOptions): Promise<Step<M>>;
  async begin(request: GivenRequest, options: StepOptions = {}): Promise<Step> {
    const plain = plainRequest(request);
    const signal = options.signal ?? new AbortController().signal;
    if (signal.aborted) throw stopped(signal);
    const now = this.#clock.now();
    const flow: SavedFlow = {
      format: 'parley-flow',
      version: FLOW_VERSION,
      id: crypto.randomUUID(),
      revision: 1,
      server: this.#server,
      request: plain,
      round: 0,
      waits: 0,
      questions: [],
      repeats: { digest: '', times: 0 },
      beganAt: now,
      askedAt: now,
      sentAt: now,
    };
    await options.beforeSend?.(flow);
    if (signal.aborted) throw stopped(signal);
    const outcome = await this.#exchange(flow, undefined, signal);
    if (outcome.type === 'failed') throw firstFailure(outcome.error, signal);
    return this.#step(outcome, flow);
  }

  /**
   * Sends the next request of a call: the same again, with the answers to all that was asked. For a task, the
   * answers to some of what it asks or to all of it, or a look at it where none are given.
   *
   * @throws SavedFlowInvalid, SavedFlowForeign, ConfigurationError when the flow cannot be continued here.
   * @throws AnswerRefused, Unanswered when an answer does not fit, or is missing. Nothing was sent.
   * @throws CallStopped when the signal aborts before anything is sent.
   * @throws RetryNotTaken when it is known that the server did not take it up.
   * @throws RetryUnknown when no answer came, or the flow was sent before and `resend` is not set.
   * @throws RequestStateRefused when the server does not take its state back.
   * @throws InvalidResponse, UnsafeUrl when the server asks what it must not.
   * @throws TaskCancelled, TaskGone when the task ended so.
   * @throws the client's `ProtocolError` where the server answered with an error, or the task failed with one. And
   *   for a task, its other errors: the flow is as it was, and may be continued.
   */
  async next<M extends DrivenMethod>(
    saved: SavedFlow<M>,
    answers?: AnswersByKey,
    options?: NextOptions,
  ): Promise<Step<M>>;
  async next(saved: SavedFlow, answers: AnswersByKey = {}, options: NextOptions = {}): Promise<Step> {
    const flow = this.check(saved);
    if (flow.sentAt !== undefined && options.resend !== true) throw new RetryUnknown(flow.round + 1, flow);
    const signal = options.signal ?? new AbortController().signal;
    if (isTaskFlow(flow)) return this.#nextOfTask(flow, answers, signal);
    const inputResponses = responsesTo(flow, answers, 'all');
    if (signal.aborted) throw stopped(signal, flow);
    const sent = { ...flow, revision: flow.revision + 1, sentAt: this.#clock.now() };
    // Where nothing was done it stands where it stood, which may be that an earlier retry was not answered.
    const back = { ...flow, revision: sent.revision + 1 };
    try {
      await options.beforeSend?.(sent);
    } catch (error) {
      throw signal.aborted ? stopped(signal, back) : error;
    }
    if (signal.aborted) throw stopped(signal, back);
    const outcome = await this.#exchange(flow, inputResponses, signal);
    if (outcome.type === 'failed') throw retryFailure(outcome, { sent, back, signal });
    return this.#step(outcome, sent);
  }

  /**
   * Asks the server to cancel the task that a call has become. It may end in another way all the same: look, or
   * forget it.
   *
   * @throws SavedFlowInvalid, SavedFlowForeign, ConfigurationError when there is no task to cancel here.
   * @throws TaskGone when the server does not know it (any more), and the client's own errors.
   */
  async cancel(saved: SavedFlow): Promise<void> {
    const flow = this.check(saved);
    if (!isTaskFlow(flow)) {
      throw new ConfigurationError('This call is no task. Between its rounds nothing runs: forget it.');
    }
    await this.#tasks.cancel(flow);
  }

  /**
   * A copy of a saved flow, if it is one, belongs to this server and principal, and can be gone on with on this client.
   *
   * @throws SavedFlowInvalid, SavedFlowForeign
   * @throws ConfigurationError when a kind is asked that is not answered here, or the connection is of an earlier
   *   revision.
   */
  check(saved: unknown): SavedFlow {
    const flow = loadFlow(saved);
    requireSame(flow.server, this.#server);
    for (const question of flow.questions) {
      const capability = undeclared(question, this.#capabilities);
      if (capability === undefined) continue;
      throw new ConfigurationError(
        `The saved call asks ${quoteName(question.key)}, which needs ${capability}: ` +
          `have a handler for it, and its kind among those that may be asked.`,
      );
    }
    if (this.#client.getProtocolEra() === 'legacy') {
      throw new ConfigurationError('This connection is of an earlier revision, which has no saved calls.');
    }
    return flow;
  }

  async #nextOfTask(flow: TaskFlow, answers: AnswersByKey, signal: AbortSignal): Promise<Step> {
    if (signal.aborted) throw stopped(signal, flow);
    try {
      const answered = await this.#tasks.answer(flow, answers, signal);
      if (answered !== undefined) return { type: 'pending', flow: answered };
      const look = await this.#tasks.look(flow, signal);
      switch (look.type) {
        case 'pending':
          return { type: 'pending', flow: look.flow };
        case 'completed':
          return { type: 'result', result: look.result };
        case 'failed':
          throw look.error;
        case 'cancelled':
          throw new TaskCancelled();
      }
    } catch (error) {
      throw signal.aborted ? stopped(signal, flow) : error;
    }
  }

  #exchange(
    { request, requestState }: SavedFlow,
    inputResponses: InputResponses | undefined,
    signal: AbortSignal,
  ): Promise<Incoming | Failed> {
    return exchange(this.#client, {
      request,
      ...(requestState !== undefined && { requestState }),
      ...(inputResponses !== undefined && { inputResponses }),
      capabilities: this.#capabilities,
      tasks: this.#mayBeTask,
      settings: this.#settings,
      signal,
    });
  }

  async #step(incoming: Incoming, before: SavedFlow): Promise<Step> {
    const now = this.#clock.now();
    switch (incoming.type) {
      case 'result':
        return incoming;
      case 'task':
        return { type: 'pending', flow: becomeTask(before, incoming.task, now) };
      case 'interim': {
        const bounds = { declared: this.#capabilities, maxStateBytes: this.#maxStateBytes, now };
        return { type: 'pending', flow: await afterRound(before, incoming, bounds) };
      }
    }
  }
}
