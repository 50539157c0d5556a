import type { ServerContext } from '@modelcontextprotocol/server';
import { acceptsVersion, bytesOf, journalTooLarge, type StatePolicy } from '../carrier/index.js';
import { runFlow, type AttachedOutcome, type ClientView, type Flow, type Journal } from '../flow/index.js';
import { clientView, type TaskHost, type TaskRun } from '../gate/index.js';
import type { TaskHead } from './head.js';
import type { Hold } from './hold.js';
import type { ParkedQuestions } from './questions.js';

/** What one run of a task goes on from. */
export interface RunState {
  readonly head: TaskHead;
  readonly journal: Journal;
  readonly parked: ParkedQuestions;
  /** Answers by question key, as they came. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly expiresAt: number;
}

/** How a run writes to its task while it runs. Both reject with `TaskStopped` when it may not. */
export interface RunWrites {
  readonly append: (lines: readonly string[]) => Promise<void>;
  readonly note: (message: string) => Promise<void>;
}

/** Thrown through the SDK where a run has no result: how it came to rest is in {@link FlowTaskRun.outcome}. */
class CameToRest extends Error {
  override readonly name = 'CameToRest';
}

/** A task has no rounds: what bounds it is its time, and how many questions it may ask in its life. */
const UNBOUNDED = { rounds: Number.MAX_SAFE_INTEGER, waits: Number.MAX_SAFE_INTEGER };

/** Runs the flow of a task from its journal, in place of a round. */
export class FlowTaskRun implements TaskRun {
  readonly #host: TaskHost;
  readonly #state: RunState;
  readonly #hold: Hold;
  readonly #writes: RunWrites;
  readonly client: ClientView;
  /** How the flow ended. Undefined when it was not run. */
  outcome: AttachedOutcome<unknown> | undefined;
  /** Whether the handler here is of a version that cannot go on with the task. */
  isForeign = false;

  constructor(host: TaskHost, state: RunState, hold: Hold, writes: RunWrites) {
    this.#host = host;
    this.#state = state;
    this.#hold = hold;
    this.#writes = writes;
    this.client = clientView(state.head.capabilities);
  }

  async serve(handler: (flow: never) => unknown, ctx: ServerContext, policy: StatePolicy): Promise<unknown> {
    const { head, journal, parked, answers } = this.#state;
    if (!acceptsVersion(policy, head.version)) {
      this.isForeign = true;
      throw new CameToRest();
    }
    const { limits, runHost, clockSkew } = this.#host;
    const left = (): number => Math.max(head.deadline, this.#state.expiresAt) + 2 * clockSkew - runHost.now();
    const outcome = await runFlow(handler as (flow: Flow<ServerContext>) => unknown, {
      id: () => head.flow,
      round: head.round,
      waits: 0,
      journal,
      asked: parked.asked,
      answers,
      limits: { ...limits, ...UNBOUNDED },
      client: this.client,
      ctx,
      signal: this.#hold.signal,
      host: runHost,
      once: (request) => this.#host.once(head.flow, left(), request),
      detached: 'done',
      // A wait that polled in place would keep its worker from all other tasks.
      looksOnce: true,
      commit: this.#bounded(),
      heartbeat: async (message) => {
        await this.#hold.extend();
        if (message !== undefined) await this.#writes.note(message);
      },
    });
    this.outcome = outcome;
    if (outcome.type === 'completed') return outcome.value;
    throw outcome.type === 'failed' ? outcome.error : new CameToRest();
  }

  #bounded(): (lines: readonly string[]) => Promise<void> {
    const { overflowBytes } = this.#host.limits;
    const lines: string[] = [...this.#state.journal];
    let bytes = lines.reduce((sum, line) => sum + bytesOf(line), 0);
    return async (more) => {
      lines.push(...more);
      bytes += more.reduce((sum, line) => sum + bytesOf(line), 0);
      if (bytes > overflowBytes) throw journalTooLarge(lines, bytes, overflowBytes);
      await this.#writes.append(more);
    };
  }
}
