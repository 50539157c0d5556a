import { ProtocolError, type Client } from '@modelcontextprotocol/client';
import { ConfigurationError, DriveError, DriveLimit, FlowNotSaved, SavedFlowOutdated } from '../errors.js';
import { answerable } from './ask.js';
import { askAll, preview, requireWithin } from './before-retry.js';
import { wholeClock, type Clock } from './clock.js';
import { checkOptions, type DriveOptions, type ResumeOptions } from './drive-options.js';
import { followTask } from './follow-task.js';
import { plainIdentity, type ServerIdentity } from './identity.js';
import { deepFreeze } from './json.js';
import { Keeper } from './keeper.js';
import { driveLegacy } from './legacy.js';
import { fullPolicy, type FullPolicy } from './policy.js';
import { telling, type DriveProgress } from './progress.js';
import { capabilitiesFor } from './question.js';
import {
  plainRequest,
  type DrivenMethod,
  type DrivenRequest,
  type DrivenResult,
  type GivenRequest,
} from './request.js';
import { flowOf, loadFlow, type SavedFlow } from './saved-flow.js';
import { stopped } from './send.js';
import { Stepper, type Step } from './stepper.js';
import { isTaskFlow, TaskSteps, type TaskFlow } from './task-steps.js';
import { within } from './within.js';

/**
 * Drives a call to its end: sends it, asks the handlers what the server asks, sends it again with their answers,
 * until there is a result. For a connection of 2025-11-25, whose servers ask while the call is open, the same
 * handlers answer, under the same checks; such a call cannot be saved.
 *
 * The client must be connected. It may have `inputRequired: { autoFulfill: false }` or not: the driver never uses
 * its handlers on a connection of 2026-07-28.
 *
 * Local failures are errors of this library, with a text for a `code`; what a server answered is the client's
 * `ProtocolError`, with a number. `flowOf(error)` is what can be resumed; there is none when there is nothing to go on
 * with.
 *
 * @throws InvalidResponse, UnsafeUrl, RequestStateRefused for what the server did.
 * @throws Unanswered, AnswerRefused for what the handlers did. Nothing was sent.
 * @throws DriveLimit, GoingNowhere, CallStopped, ServerNotAllowed for what the policy, or the signal, says.
 * @throws TaskCancelled, TaskGone, TaskUnreachable for the task that the call had become.
 * @throws RetryNotTaken when it is known that the server did not take a retry up.
 * @throws RetryUnknown when a retry was sent and nothing came back.
 * @throws ConnectionBusy when an earlier call on a connection of 2025-11-25 has no response yet.
 * @throws FlowNotSaved when the store fails, SavedFlowOutdated when another process has gone on with the call.
 * @throws ConfigurationError for options that are wrong, and a store that holds another call.
 */
export async function drive<M extends DrivenMethod>(
  client: Client,
  request: GivenRequest<M>,
  options: DriveOptions,
): Promise<DrivenResult<M>>;
export async function drive(
  client: Client,
  request: GivenRequest,
  options: DriveOptions,
): Promise<DrivenResult> {
  return new Run(client, options).begin(deepFreeze(plainRequest(request)));
}

/**
 * Goes on with a saved call, in this process or another one: asks what is pending, and drives it to its end. With a
 * store, that must hold the call: then only one of several who resume it at the same time sends.
 *
 * The type of the result is known where that of the flow is: `loadFlow(saved, 'tools/call')`.
 *
 * @throws SavedFlowInvalid, SavedFlowForeign, SavedFlowOutdated when it cannot be resumed here; and what
 *   {@link drive} throws.
 */
export async function resume<M extends DrivenMethod>(
  client: Client,
  saved: SavedFlow<M> | undefined,
  options: ResumeOptions,
): Promise<DrivenResult<M>>;
export async function resume(
  client: Client,
  saved: SavedFlow | undefined,
  options: ResumeOptions,
): Promise<DrivenResult> {
  return new Run(client, options).resume(loadFlow(saved), options.resend === true);
}

/** What the rounds of a call come to. */
type RoundsEnd =
  | { readonly type: 'result'; readonly result: DrivenResult }
  | { readonly type: 'task'; readonly flow: TaskFlow };

/** One call that is being driven. */
class Run {
  readonly #client: Client;
  readonly #options: DriveOptions;
  readonly #server: ServerIdentity;
  readonly #policy: FullPolicy;
  readonly #clock: Clock;
  readonly #stepper: Stepper;
  readonly #keeper: Keeper;
  readonly #onProgress: (progress: DriveProgress) => void;

  constructor(client: Client, options: DriveOptions) {
    checkOptions(options);
    this.#client = client;
    this.#options = options;
    this.#server = plainIdentity(options.server);
    this.#policy = fullPolicy(options.policy ?? {}, answerable(options.handlers), this.#server);
    this.#clock = wholeClock(options.clock);
    this.#stepper = new Stepper(client, { ...options, kinds: [...this.#policy.kinds], clock: this.#clock });
    this.#keeper = new Keeper(options.store, this.#clock);
    this.#onProgress = telling(options.onProgress);
  }

  async begin(request: DrivenRequest): Promise<DrivenResult> {
    this.#requireConnected();
    return this.#within(this.#clock.now(), async (signal) => {
      if (this.#client.getProtocolEra() === 'legacy') return this.#driveLegacy(request, signal);
      return this.#toEnd(signal, async () => {
        const first = await this.#stepper.begin(request, {
          signal,
          beforeSend: async (sent) => {
            await this.#keeper.begin(sent, signal);
            this.#onProgress({ type: 'round', round: 1 });
          },
        });
        return this.#rounds(first, signal, { resend: false });
      });
    });
  }

  async resume(saved: SavedFlow, resend: boolean): Promise<DrivenResult> {
    const flow = this.#stepper.check(saved);
    // Before anybody is asked in vain.
    this.#requireConnected();
    return this.#within(flow.beganAt, async (signal) => {
      await this.#keeper.takeUp(flow, signal);
      return this.#toEnd(
        signal,
        () => this.#rounds({ type: 'pending', flow }, signal, { resend }),
        isTaskFlow(flow),
      );
    });
  }

  #requireConnected(): void {
    if (this.#client.transport === undefined) throw new ConfigurationError('The client is not connected.');
  }

  /** Runs the rounds of a call, and its task, and leaves the store as the call ends. `isOld` is a task of before. */
  async #toEnd(signal: AbortSignal, rounds: () => Promise<RoundsEnd>, isOld = false): Promise<DrivenResult> {
    let end: RoundsEnd;
    try {
      end = await rounds();
    } catch (error) {
      await this.#leave(error);
      throw error;
    }
    if (end.type === 'task') return this.#followTask(end.flow, !isOld, signal);
    await this.#keeper.leave();
    return end.result;
  }

  async #rounds(first: Step, signal: AbortSignal, { resend }: { resend: boolean }): Promise<RoundsEnd> {
    let step = first;
    let waited = 0;
    let again = resend;
    while (step.type === 'pending') {
      const { flow } = step;
      if (isTaskFlow(flow)) return { type: 'task', flow };
      // A retry of unknown outcome is refused before anybody is asked.
      if (flow.sentAt !== undefined && !again) await this.#stepper.next(flow);
      await this.#keeper.save(flow, signal);
      if (signal.aborted) throw stopped(signal, flow);
      this.#requireWithin(flow);
      if (flow.questions.length > 0) waited = 0;
      else if (flow.round > 0) await this.#pause(flow, (waited += 1), signal);
      step = await this.#retry(flow, signal, again);
      again = false;
    }
    return step;
  }

  async #retry(flow: SavedFlow, signal: AbortSignal, resend: boolean): Promise<Step> {
    const answers = await askAll(this.#options.handlers, flow, flow.questions, signal);
    await preview(this.#policy, flow, answers, signal);
    const beforeSend = async (sent: SavedFlow): Promise<void> => {
      await this.#keeper.mark(sent, flow, signal);
      this.#onProgress({ type: 'round', round: flow.round + 1 });
    };
    return this.#stepper.next(flow, answers, { signal, resend, beforeSend });
  }

  #requireWithin(flow: SavedFlow): void {
    const { rounds } = this.#policy.stateOnly;
    if (flow.waits > rounds) throw new DriveLimit('stateOnly.rounds', rounds, flow);
    requireWithin(this.#policy, flow);
  }

  async #pause(flow: SavedFlow, nth: number, signal: AbortSignal): Promise<void> {
    const { firstMs, maxMs } = this.#policy.stateOnly;
    const ms = Math.min(firstMs * 2 ** (nth - 1), maxMs);
    this.#onProgress({ type: 'pause', round: flow.round + 1, ms });
    try {
      await this.#clock.sleep(ms, signal);
    } catch (error) {
      throw signal.aborted ? stopped(signal, flow) : error;
    }
  }

  /** What there is to go on with stays in the store. What the server answered, and a call that never began, do not. */
  async #leave(error: unknown): Promise<void> {
    const flow = flowOf(error);
    // Its store has just failed, or holds what somebody else has put there.
    if (error instanceof FlowNotSaved || error instanceof SavedFlowOutdated) return;
    const isOver = error instanceof ProtocolError || error instanceof DriveError || this.#keeper.isBeginning;
    if (flow !== undefined || isOver) await this.#keeper.leave(flow);
  }

  #followTask(flow: TaskFlow, isNew: boolean, signal: AbortSignal): Promise<DrivenResult> {
    const { handlers, onTask, capabilities, request: settings = {} } = this.#options;
    const [client, policy, clock, keeper] = [this.#client, this.#policy, this.#clock, this.#keeper];
    const steps = new TaskSteps({
      client,
      declared: capabilitiesFor(policy.kinds, capabilities),
      settings,
      clock,
    });
    const told = { onTask: telling(onTask), onProgress: this.#onProgress };
    const options = { client, steps, handlers, policy, clock, signal, keeper, ...told };
    return followTask(flow, isNew, options);
  }

  #driveLegacy(request: DrivenRequest, signal: AbortSignal): Promise<DrivenResult> {
    const { handlers, request: settings = {}, capabilities = {} } = this.#options;
    const [server, policy, clock] = [this.#server, this.#policy, this.#clock];
    const options = { server, handlers, policy, settings, capabilities, clock, signal };
    return driveLegacy(this.#client, request, options);
  }

  #within<T>(beganAt: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    return within({ signal, deadlineMs: this.#policy.deadlineMs, beganAt, clock: this.#clock }, run);
  }
}
