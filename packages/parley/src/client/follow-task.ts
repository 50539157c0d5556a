import { ProtocolError, type CallToolResult, type Client } from '@modelcontextprotocol/client';
import {
  DriveLimit,
  GoingNowhere,
  InvalidResponse,
  TaskCancelled,
  TaskGone,
  TaskUnreachable,
  UnsafeUrl,
} from '../errors.js';
import type { Answer } from './answer.js';
import type { Handlers } from './ask.js';
import { askAll, preview, requireWithin } from './before-retry.js';
import type { Clock } from './clock.js';
import type { Keeper } from './keeper.js';
import type { FullPolicy } from './policy.js';
import type { DriveProgress } from './progress.js';
import { mayPass } from './send-task.js';
import { isTurnedAway, stopped } from './send.js';
import type { SavedTask } from './task.js';
import type { Look, TaskFlow, TaskSteps } from './task-steps.js';

/** What a task needs of the call that became it. */
export interface FollowOptions {
  readonly client: Client;
  readonly steps: TaskSteps;
  readonly handlers: Handlers;
  readonly policy: FullPolicy;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly keeper: Keeper;
  readonly onTask: (task: SavedTask) => void;
  readonly onProgress: (progress: DriveProgress) => void;
}

/** Where the server names no interval: a second, doubled with each look that shows nothing new, to 15 (GAP-45). */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

/**
 * Drives a call to its end that has become a task: looks at it, asks the handlers what it asks, and sends their
 * answers (TASK-23, TASK-34, TASK-35, TASK-47). `isNew` tells a task just made from one that is taken up again.
 */
export async function followTask(
  flow: TaskFlow,
  isNew: boolean,
  options: FollowOptions,
): Promise<CallToolResult> {
  return new TaskRun(flow, isNew, options).run();
}

class TaskRun {
  readonly #options: FollowOptions;
  #flow: TaskFlow;
  /** When the task was last looked at; none when the next look need not wait. */
  #lookedAt: number | undefined;
  /** When the server's turn began, which `task.maxWaitMs` bounds. */
  #waitsSince: number;
  /** Looks in a row that showed nothing new, that asked only what was answered, and that failed. */
  readonly #looks = { unchanged: 0, stale: 0, failed: 0 };
  /** Answers of which nobody knows whether they arrived, and how many times in a row that was so. */
  #unsure: ReadonlyMap<string, Answer> = new Map();
  #unsureTimes = 0;
  /** Why the server took none of them. It may be that the task is gone, or has moved on: a look tells. */
  #refusal: ProtocolError | undefined;

  constructor(flow: TaskFlow, isNew: boolean, options: FollowOptions) {
    this.#options = options;
    this.#flow = flow;
    this.#waitsSince = options.clock.now();
    this.#lookedAt = isNew && flow.task.status === 'working' ? flow.task.seenAt : undefined;
  }

  async run(): Promise<CallToolResult> {
    let end: Exclude<Look, { type: 'pending' }>;
    try {
      await this.#keep();
      end = await this.#untilEnd();
    } catch (error) {
      throw await this.#givenUp(error);
    }
    await this.#options.keeper.leave();
    switch (end.type) {
      case 'completed':
        return end.result;
      case 'failed':
        throw end.error;
      case 'cancelled':
        throw new TaskCancelled();
    }
  }

  async #untilEnd(): Promise<Exclude<Look, { type: 'pending' }>> {
    for (;;) {
      await this.#pause();
      const look = await this.#look();
      if (look === undefined) continue;
      if (look.type !== 'pending') return look;
      await this.#take(look);
      if (this.#flow.questions.length > 0) await this.#answer();
    }
  }

  async #pause(): Promise<void> {
    if (this.#lookedAt === undefined) return;
    const { clock, policy, signal, onProgress } = this.#options;
    const failures = this.#looks.failed + this.#unsureTimes;
    const asked = this.#flow.task.pollIntervalMs ?? growing(this.#looks.unchanged);
    const pause = failures === 0 ? asked : Math.max(asked, growing(failures - 1));
    const now = clock.now();
    const { maxWaitMs } = policy.task;
    const left = this.#waitsSince + maxWaitMs - now;
    if (left <= 0) throw new DriveLimit('task.maxWaitMs', maxWaitMs);
    const due = this.#lookedAt + pause - now;
    if (due <= 0) return;
    const ms = Math.min(due, left);
    onProgress({ type: 'pause', round: this.#flow.round + 1, ms });
    await clock.sleep(ms, signal);
  }

  /** Nothing, when the server could not be reached and may be yet. */
  async #look(): Promise<Look | undefined> {
    const { clock, steps, signal } = this.#options;
    try {
      const look = await steps.look(this.#flow, signal);
      this.#looks.failed = 0;
      return look;
    } catch (error) {
      this.#looks.failed += 1;
      this.#mayTryAgain(error, this.#looks.failed);
      return undefined;
    } finally {
      this.#lookedAt = clock.now();
    }
  }

  async #take(look: Extract<Look, { type: 'pending' }>): Promise<void> {
    const flow = this.#withArrived(look.flow);
    const isSame = flow.revision === this.#flow.revision;
    this.#flow = flow;
    this.#looks.unchanged = isSame ? this.#looks.unchanged + 1 : 0;
    if (!isSame) await this.#keep();
    const isStale = flow.task.status === 'input_required' && flow.questions.length === 0;
    this.#looks.stale = isStale ? this.#looks.stale + 1 : 0;
    const { stale } = this.#looks;
    if (stale >= this.#options.policy.task.stalePolls)
      throw new GoingNowhere(look.repeated, stale, this.#flow);
    if (this.#refusal !== undefined && this.#unsure.size > 0) throw this.#refusal;
    this.#refusal = undefined;
  }

  /** Answers arrived, or came too late, whose questions are not shown any more. Either way they are settled. */
  #withArrived(flow: TaskFlow): TaskFlow {
    const open = new Set(flow.questions.map(({ key }) => key));
    const arrived = [...this.#unsure.keys()].filter((key) => !open.has(key));
    if (arrived.length === 0) return flow;
    this.#unsure = new Map([...this.#unsure].filter(([key]) => open.has(key)));
    const answered = [...flow.task.answered, ...arrived];
    return { ...flow, revision: flow.revision + 1, task: { ...flow.task, answered } };
  }

  async #answer(): Promise<void> {
    const { handlers, policy, clock, signal, steps, onProgress } = this.#options;
    const flow = this.#flow;
    requireWithin(policy, flow);
    const open = flow.questions.filter(({ key }) => !this.#unsure.has(key));
    const answers = new Map([...this.#unsure, ...(await askAll(handlers, flow, open, signal))]);
    this.#waitsSince = clock.now();
    await preview(policy, flow, answers, signal);
    onProgress({ type: 'round', round: flow.round + 1 });
    try {
      this.#flow = (await steps.answer(flow, answers, signal)) ?? flow;
    } catch (error) {
      this.#unsure = answers;
      if (error instanceof ProtocolError && error.code === -32_602) {
        this.#refusal = error;
        this.#lookedAt = undefined;
      } else {
        this.#unsureTimes += 1;
        this.#mayTryAgain(error, this.#unsureTimes);
      }
      return;
    }
    this.#unsure = new Map();
    this.#unsureTimes = 0;
    await this.#keep();
  }

  /** @throws what failed, when it is not worth another try, or was tried often enough. */
  #mayTryAgain(error: unknown, times: number): void {
    const { client, policy, signal } = this.#options;
    if (signal.aborted) throw error;
    // Who was turned away can come back. What else does not pass is the server's word on it.
    const isOver = client.transport === undefined || (isTurnedAway(error) && !mayPass(error));
    if (!isOver && !mayPass(error)) throw error;
    if (isOver || times > policy.task.failures) {
      throw new TaskUnreachable(times, this.#flow, { cause: error });
    }
  }

  async #keep(): Promise<void> {
    const { keeper, signal, onTask } = this.#options;
    await keeper.save(this.#flow, signal);
    onTask(this.#flow.task);
  }

  /** What the call ends with that did not come to the end of its task. */
  async #givenUp(error: unknown): Promise<unknown> {
    const { signal, keeper, policy } = this.#options;
    if (error instanceof TaskGone) {
      await keeper.leave();
      return error;
    }
    const isLate = error instanceof DriveLimit && error.bound === 'task.maxWaitMs';
    if (!signal.aborted && !isLate) return this.#withFlow(error);
    let flow: TaskFlow | undefined = this.#flow;
    if (policy.task.whenStopped === 'cancel' && (await this.#cancel())) {
      flow = undefined;
    }
    await keeper.leave(flow);
    return isLate ? new DriveLimit(error.bound, error.limit, flow) : stopped(signal, flow);
  }

  /** What the server said that cannot be, is not the end of the task. */
  #withFlow(error: unknown): unknown {
    if (error instanceof UnsafeUrl) return new UnsafeUrl(error.key, this.#flow);
    if (!(error instanceof InvalidResponse)) return error;
    return new InvalidResponse(error.reason, { cause: error.cause }, this.#flow);
  }

  /** Whether the server took it, or has no such task any more. Then there is nothing to go on with (TASK-28). */
  async #cancel(): Promise<boolean> {
    try {
      await this.#options.steps.cancel(this.#flow);
      return true;
    } catch (error) {
      return error instanceof TaskGone;
    }
  }
}

function growing(times: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS);
}
