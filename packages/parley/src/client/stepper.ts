import type { Client, ClientCapabilities, InputResponse, InputResponses } from '@modelcontextprotocol/client';
import { AnswerRefused, ConfigurationError, InvalidResponse, RetryUnknown, Unanswered } from '../errors.js';
import { checkAnswer, type Answer } from './answer.js';
import { systemClock, type Clock } from './clock.js';
import { plainIdentity, requireSame, type ServerIdentity } from './identity.js';
import {
  capabilitiesFor,
  digestOf,
  readQuestion,
  undeclared,
  type Question,
  type QuestionKind,
} from './question.js';
import { plainRequest, type DrivenMethod, type DrivenRequest, type DrivenResult } from './request.js';
import { FLOW_VERSION, loadFlow, type SavedFlow } from './saved-flow.js';
import { firstFailure, retryFailure, send, stopped, type Incoming, type RequestSettings } from './send.js';

/** What a stepper needs to know. */
export interface StepperOptions {
  /** Which server the client is connected to, as the host configured it. */
  readonly server: ServerIdentity;
  /** What can be answered. This is declared with every request, and all else that is asked fails the call. */
  readonly kinds: readonly QuestionKind[];
  /** Capabilities to declare beside those (extensions, `sampling.tools`). */
  readonly capabilities?: ClientCapabilities;
  /** Bytes of UTF-8 that a server's state may take; more is an invalid response. Default 1 MiB. */
  readonly maxStateBytes?: number;
  /** Options of every request: its time-out (ms), progress. */
  readonly request?: RequestSettings;
  /** Time; the machine's by default. */
  readonly clock?: Clock;
}

/** Where a call stands after a round. */
export type Step<R = DrivenResult> =
  | { readonly type: 'result'; readonly result: R }
  /** Answer `flow.questions` with {@link Stepper.next}; without any, call it with no answers after a pause. */
  | { readonly type: 'pending'; readonly flow: SavedFlow };

/** Answers by the key of their question. A map takes every key, `__proto__` too. */
export type AnswersByKey = ReadonlyMap<string, Answer> | { readonly [key: string]: Answer };

/** What may be said of one step. */
export interface StepOptions {
  /** Cancels the request that is under way. */
  readonly signal?: AbortSignal;
}

/** What may be said of a retry. */
export interface NextOptions extends StepOptions {
  /** Send a retry again of which nobody knows whether the first one took effect. */
  readonly resend?: boolean;
  /** Called with the flow, marked as sent, before the retry leaves; it waits for that. The place to save it. */
  readonly beforeSend?: (flow: SavedFlow) => Promise<void> | void;
}

/** More questions than any server asks at once (GAP-08). */
const MAX_QUESTIONS = 64;

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
  readonly #maxStateBytes: number;
  readonly #settings: RequestSettings;
  readonly #clock: Clock;

  /** @throws ConfigurationError when the server's identity is none. */
  constructor(client: Client, options: StepperOptions) {
    this.#client = client;
    this.#server = plainIdentity(options.server);
    this.#capabilities = capabilitiesFor(new Set(options.kinds), options.capabilities);
    this.#maxStateBytes = options.maxStateBytes ?? DEFAULT_STATE_BYTES;
    this.#settings = options.request ?? {};
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Sends the first request of a call.
   *
   * @throws ConfigurationError when the request cannot be driven, or the client is not connected.
   * @throws InvalidResponse, UnsafeUrl when the server asks what it must not.
   * @throws the client's own errors, where the request failed.
   */
  async begin<M extends DrivenMethod>(
    request: DrivenRequest<M>,
    options: StepOptions = {},
  ): Promise<Step<DrivenResult<M>>> {
    const plain = plainRequest(request) as DrivenRequest;
    const signal = options.signal ?? new AbortController().signal;
    if (signal.aborted) throw stopped(signal);
    const beganAt = this.#clock.now();
    const incoming = await this.#send({ request: plain }, signal, (error) => firstFailure(error, signal));
    const step = await this.#step(incoming, (digest) => ({
      format: 'parley-flow',
      version: FLOW_VERSION,
      server: this.#server,
      request: plain,
      round: 0,
      waits: 0,
      questions: [],
      repeats: { digest, times: 0 },
      beganAt,
      askedAt: beganAt,
    }));
    return step;
  }

  /**
   * Sends the next request of a call: the same again, with the answers to all that was asked.
   *
   * @throws SavedFlowInvalid, SavedFlowForeign when the flow cannot be continued here.
   * @throws AnswerRefused, Unanswered when an answer does not fit, or is missing. Nothing was sent.
   * @throws RetryUnknown when no answer came, or the flow was sent before and `resend` is not set.
   * @throws RequestStateRefused when the server does not take its state back.
   * @throws InvalidResponse, UnsafeUrl when the server asks what it must not.
   * @throws the client's `ProtocolError` where the server answered with an error.
   */
  async next(saved: SavedFlow, answers: AnswersByKey = {}, options: NextOptions = {}): Promise<Step> {
    const flow = this.check(saved);
    if (flow.sentAt !== undefined && options.resend !== true) throw new RetryUnknown(flow.round + 1, flow);
    const inputResponses = responsesTo(flow, answers);
    if (this.#client.getProtocolEra() === 'legacy') {
      throw new ConfigurationError('This connection is of an earlier revision, which has no saved calls.');
    }
    const signal = options.signal ?? new AbortController().signal;
    if (signal.aborted) throw stopped(signal, flow);
    const sent: SavedFlow = { ...flow, sentAt: this.#clock.now() };
    await options.beforeSend?.(sent);
    if (signal.aborted) throw stopped(signal, flow);
    const incoming = await this.#send(
      {
        request: flow.request,
        ...(flow.requestState !== undefined && { requestState: flow.requestState }),
        ...(inputResponses !== undefined && { inputResponses }),
      },
      signal,
      (error) => retryFailure(error, sent, signal),
    );
    return this.#step(incoming, () => flow);
  }

  /**
   * A copy of a saved flow, if it is one, and belongs to this server and principal.
   *
   * @throws SavedFlowInvalid, SavedFlowForeign
   */
  check(saved: unknown): SavedFlow {
    const flow = loadFlow(saved);
    requireSame(flow.server, this.#server);
    for (const question of flow.questions) this.#requireDeclared(question);
    return flow;
  }

  async #send(
    parts: {
      readonly request: DrivenRequest;
      readonly requestState?: string;
      readonly inputResponses?: InputResponses;
    },
    signal: AbortSignal,
    failure: (error: unknown) => unknown,
  ): Promise<Incoming> {
    const rest = { capabilities: this.#capabilities, settings: this.#settings, signal };
    try {
      return await send(this.#client, { ...parts, ...rest });
    } catch (error) {
      throw failure(error);
    }
  }

  async #step(incoming: Incoming, before: (digest: string) => SavedFlow): Promise<Step> {
    if (incoming.type === 'result') return incoming;
    const { inputRequests, requestState } = incoming;
    const keys = Object.keys(inputRequests);
    if (keys.length > MAX_QUESTIONS)
      throw new InvalidResponse(`it asks more than ${MAX_QUESTIONS} questions`);
    if (requestState !== undefined && !fits(requestState, this.#maxStateBytes)) {
      throw new InvalidResponse(
        `its requestState takes more than ${this.#maxStateBytes} bytes (maxStateBytes)`,
      );
    }
    const questions = keys.map((key) => {
      const question = readQuestion(key, inputRequests[key]);
      this.#requireDeclared(question);
      return question;
    });
    const digest = await digestOf(questions);
    const { requestState: _old, sentAt: _sent, ...flow } = before(digest);
    const isWait = questions.length === 0;
    const times = flow.repeats.digest === digest ? flow.repeats.times + 1 : 1;
    return {
      type: 'pending',
      flow: {
        ...flow,
        round: flow.round + 1,
        waits: flow.waits + (isWait ? 1 : 0),
        ...(requestState !== undefined && { requestState }),
        questions,
        // A round that only waits is no progress, so it does not interrupt a row.
        repeats: isWait ? flow.repeats : { digest, times },
        askedAt: this.#clock.now(),
      },
    };
  }

  #requireDeclared(question: Question): void {
    const capability = undeclared(question, this.#capabilities);
    if (capability === undefined) return;
    const key = JSON.stringify(question.key);
    throw new InvalidResponse(`the question ${key} needs ${capability}, which was not declared`);
  }
}

/** What is sent for the answers: one for each question and no others, on an object without a prototype (MRTR-C-02). */
function responsesTo(flow: SavedFlow, answers: AnswersByKey): InputResponses | undefined {
  const given = answers instanceof Map ? answers : new Map<string, unknown>(Object.entries(answers));
  const asked = new Set(flow.questions.map(({ key }) => key));
  for (const key of given.keys()) {
    if (!asked.has(key)) throw new ConfigurationError(`No question ${JSON.stringify(key)} was asked.`);
  }
  if (flow.questions.length === 0) return undefined;
  const responses = Object.create(null) as Record<string, InputResponse>;
  for (const question of flow.questions) {
    if (!given.has(question.key)) throw new Unanswered(question.key, flow);
    const check = checkAnswer(question, given.get(question.key));
    if (check.type === 'faulty') throw new AnswerRefused(question.key, check.reason, flow);
    if (check.type === 'unsayable') throw new Unanswered(question.key, flow);
    responses[question.key] = check.response;
  }
  return responses;
}

/** Whether a text takes at most so many bytes, without encoding one that cannot. */
function fits(text: string, bytes: number): boolean {
  if (text.length > bytes) return false;
  return text.length * 3 <= bytes || new TextEncoder().encode(text).length <= bytes;
}
