import type { Client, ClientCapabilities } from '@modelcontextprotocol/client';
import {
  CallStopped,
  ConfigurationError,
  DriveLimit,
  GoingNowhere,
  RequestStateRefused,
  SavedFlowInvalid,
} from '../errors.js';
import type { Answer } from './answer.js';
import { answerable, ask, unlessAborted, type Handlers } from './ask.js';
import { systemClock, type Clock } from './clock.js';
import type { FlowStore } from './file-store.js';
import { plainIdentity, type ServerIdentity } from './identity.js';
import { deepFreeze, jsonCopy } from './json.js';
import { driveLegacy } from './legacy.js';
import { fullPolicy, type DrivePolicy, type FullPolicy } from './policy.js';
import { plainRequest, type DrivenMethod, type DrivenRequest, type DrivenResult } from './request.js';
import type { SavedFlow } from './saved-flow.js';
import { stopped, wasNotTaken, type RequestSettings } from './send.js';
import { Stepper, type Step } from './stepper.js';

/** What `drive` and `resume` take. */
export interface DriveOptions {
  /** Which server the client is connected to, and as whom, as the host configured it. */
  readonly server: ServerIdentity;
  /** Who answers. */
  readonly handlers: Handlers;
  /** How far the call may go. */
  readonly policy?: DrivePolicy;
  /** Where the call is saved between its rounds, so that another process can go on. */
  readonly store?: FlowStore;
  /** Cancels the call, with the request that is under way. */
  readonly signal?: AbortSignal;
  /** Capabilities to declare beside those of the handlers (extensions, `sampling.tools`). */
  readonly capabilities?: ClientCapabilities;
  /** Bytes of UTF-8 that a server's state may take; more is an invalid response. Default 1 MiB. */
  readonly maxStateBytes?: number;
  /** Options of every request: its time-out (ms; default 60 s, without what people take to answer), progress. */
  readonly request?: RequestSettings;
  /** Time; the machine's by default. */
  readonly clock?: Clock;
}

/** What `resume` takes beside. */
export interface ResumeOptions extends DriveOptions {
  /** Send a retry again of which nobody knows whether the first one took effect. */
  readonly resend?: boolean;
}

/**
 * Drives a call to its end: sends it, asks the handlers what the server asks, sends it again with their answers,
 * until there is a result. For a connection of 2025-11-25, whose servers ask while the call is open, the same
 * handlers answer, under the same checks; such a call cannot be saved.
 *
 * The client must be connected. It may have `inputRequired: { autoFulfill: false }` or not: the driver never uses
 * its handlers on a connection of 2026-07-28.
 *
 * Local failures are errors of this library, with a text for a `code`; what a server answered is the client's
 * `ProtocolError`, with a number.
 *
 * @throws InvalidResponse, UnsafeUrl, RequestStateRefused for what the server did.
 * @throws Unanswered, AnswerRefused for what the handlers did. Nothing was sent.
 * @throws DriveLimit, GoingNowhere, CallStopped, ServerNotAllowed for what the policy, or the signal, says.
 * @throws RetryUnknown when a retry was sent and nothing came back. `flowOf(error)` is what can be resumed.
 * @throws ConfigurationError for options that are wrong, and a store that holds another call.
 */
export async function drive<M extends DrivenMethod>(
  client: Client,
  request: DrivenRequest<M>,
  options: DriveOptions,
): Promise<DrivenResult<M>> {
  const run = new Run(client, options);
  const plain = plainRequest(request) as DrivenRequest;
  if ((await options.store?.load()) !== undefined) {
    throw new ConfigurationError('The store holds a call that did not end: resume it, or clear the store.');
  }
  return run.begin(plain);
}

/**
 * Goes on with a saved call, in this process or another one: asks what is pending, and drives it to its end.
 *
 * @throws SavedFlowInvalid, SavedFlowForeign when it cannot be resumed here; and what {@link drive} throws.
 */
export async function resume(
  client: Client,
  saved: SavedFlow | undefined,
  options: ResumeOptions,
): Promise<DrivenResult> {
  if (saved === undefined) throw new SavedFlowInvalid('it', 'is missing');
  return new Run(client, options).resume(saved, options.resend === true);
}

/** One call that is being driven. */
class Run {
  readonly #client: Client;
  readonly #options: DriveOptions;
  readonly #server: ServerIdentity;
  readonly #policy: FullPolicy;
  readonly #clock: Clock;
  readonly #stepper: Stepper;

  constructor(client: Client, options: DriveOptions) {
    this.#client = client;
    this.#options = options;
    this.#server = plainIdentity(options.server);
    this.#policy = fullPolicy(options.policy ?? {}, answerable(options.handlers), this.#server);
    this.#clock = options.clock ?? systemClock;
    this.#stepper = new Stepper(client, { ...options, kinds: [...this.#policy.kinds], clock: this.#clock });
  }

  async begin(request: DrivenRequest): Promise<DrivenResult> {
    return this.#within(this.#clock.now(), undefined, async (signal) => {
      if (this.#client.getProtocolEra() === 'modern') {
        return this.#follow(await this.#stepper.begin(request, { signal }), signal, false);
      }
      return driveLegacy(this.#client, request, {
        server: this.#server,
        handlers: this.#options.handlers,
        policy: this.#policy,
        settings: this.#options.request ?? {},
        capabilities: this.#options.capabilities ?? {},
        clock: this.#clock,
        signal,
      });
    });
  }

  async resume(saved: SavedFlow, resend: boolean): Promise<DrivenResult> {
    const flow = this.#stepper.check(saved);
    return this.#within(flow.beganAt, flow, (signal) =>
      this.#follow({ type: 'pending', flow }, signal, resend),
    );
  }

  async #follow(first: Step, signal: AbortSignal, resend: boolean): Promise<DrivenResult> {
    const { store } = this.#options;
    let step = first;
    let waited = 0;
    let again = resend;
    while (step.type === 'pending') {
      const { flow } = step;
      const answers = new Map<string, Answer>();
      if (flow.sentAt === undefined) await store?.save(flow);
      this.#check(flow);
      // A retry of unknown outcome is refused before anybody is asked.
      if (flow.sentAt !== undefined && !again) await this.#stepper.next(flow);
      if (flow.questions.length === 0) {
        await this.#pause(flow, waited, signal);
        waited += 1;
      } else {
        waited = 0;
        for (const question of flow.questions) {
          const { server, request, round } = flow;
          const context = { server, request, round, signal };
          answers.set(question.key, await ask(this.#options.handlers, question, context, flow));
        }
      }
      await this.#preview(flow, answers, signal);
      step = await this.#next(flow, answers, signal, again);
      again = false;
    }
    await store?.clear();
    return step.result;
  }

  async #next(
    flow: SavedFlow,
    answers: ReadonlyMap<string, Answer>,
    signal: AbortSignal,
    resend: boolean,
  ): Promise<Step> {
    const { store } = this.#options;
    try {
      return await this.#stepper.next(flow, answers, {
        signal,
        resend,
        ...(store !== undefined && { beforeSend: (sent) => store.save(sent) }),
      });
    } catch (error) {
      // A state that the server does not take is of no use to anybody.
      if (error instanceof RequestStateRefused) await store?.clear();
      else if (wasNotTaken(error) && !resend) await store?.save(flow);
      throw error;
    }
  }

  #check(flow: SavedFlow): void {
    const { maxRounds, maxQuestions, repeats, stateOnly } = this.#policy;
    const { questions } = flow;
    if (questions.length > maxQuestions) throw new DriveLimit('maxQuestions', maxQuestions, flow);
    if (questions.length > 0 && flow.repeats.times >= repeats) {
      throw new GoingNowhere(
        questions.map(({ key }) => key),
        flow.repeats.times,
        flow,
      );
    }
    if (flow.waits > stateOnly.rounds) throw new DriveLimit('stateOnly.rounds', stateOnly.rounds, flow);
    // This round is over, so what would follow it must still be allowed. Waiting is not counted here.
    if (flow.round - flow.waits >= maxRounds) throw new DriveLimit('maxRounds', maxRounds, flow);
  }

  async #pause(flow: SavedFlow, waited: number, signal: AbortSignal): Promise<void> {
    const { firstMs, maxMs } = this.#policy.stateOnly;
    try {
      await this.#clock.sleep(Math.min(firstMs * 2 ** waited, maxMs), signal);
    } catch (error) {
      throw signal.aborted ? stopped(signal, flow) : error;
    }
  }

  async #preview(flow: SavedFlow, answers: ReadonlyMap<string, Answer>, signal: AbortSignal): Promise<void> {
    const { server, request, round, questions } = flow;
    const preview = deepFreeze(jsonCopy({ server, request, round, questions, answers: [...answers] }));
    let verdict: 'stop' | void;
    try {
      verdict = await unlessAborted(async () => this.#policy.beforeRetry(preview), signal);
    } catch (error) {
      throw signal.aborted ? stopped(signal, flow) : new CallStopped('beforeRetry', flow, { cause: error });
    }
    if (verdict === 'stop') throw new CallStopped('beforeRetry', flow);
  }

  /** Runs under the caller's signal and the deadline, which counts from when the call began. */
  async #within<T>(
    beganAt: number,
    flow: SavedFlow | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { deadlineMs } = this.#policy;
    const signals = this.#options.signal === undefined ? [] : [this.#options.signal];
    if (deadlineMs === undefined) return run(AbortSignal.any([...signals, new AbortController().signal]));
    const left = beganAt + deadlineMs - this.#clock.now();
    if (left <= 0) throw new DriveLimit('deadlineMs', deadlineMs, flow);
    const [late, over] = [new AbortController(), new AbortController()];
    void this.#clock.sleep(left, over.signal).then(
      () => late.abort(new DriveLimit('deadlineMs', deadlineMs, flow)),
      () => undefined,
    );
    try {
      return await run(AbortSignal.any([...signals, late.signal]));
    } finally {
      over.abort();
    }
  }
}
