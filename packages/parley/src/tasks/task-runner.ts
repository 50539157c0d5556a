import {
  ProtocolError,
  ProtocolErrorCode,
  specTypeSchemas,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import { LedgerUnavailable, RoundBusy, StateRejected } from '../errors.js';
import type { AttachedOutcome } from '../flow/index.js';
import { missingCapabilities, type TaskHost, type ToolRunner } from '../gate/index.js';
import type { TaskHead } from './head.js';
import { Hold, TaskStopped } from './hold.js';
import { NOTHING_PARKED, parkQuestions, type ParkedQuestions } from './questions.js';
import type { TaskClaim, TaskStore } from './store.js';
import { taskContext } from './task-context.js';
import { FlowTaskRun, type RunState } from './task-run.js';
import { wireDigest, type TaskSealer } from './task-sealer.js';

/** How a task ended, as it is stored. */
export type StoredOutcome =
  | { readonly result: CallToolResult }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** A process that dies in the same place again and again takes others with it: after so many runs the task fails. */
const MAX_RUNS = 5;

/** A worker that cannot run a task leaves it to others for so long, in ms. */
const LEAVE = 5_000;

/** What a run needs and cannot reach (the ledger, the store) is tried again after this many ms. */
const RETRY = 1_000;

/** Runs the tasks that a store says are due. */
export class TaskRunner {
  readonly #host: TaskHost;
  readonly #store: TaskStore;
  readonly #sealer: TaskSealer;

  constructor(host: TaskHost, store: TaskStore, sealer: TaskSealer) {
    this.#host = host;
    this.#store = store;
    this.#sealer = sealer;
  }

  /**
   * Runs a task until it ends, or comes to rest, or is to stop. Does nothing when it cannot be claimed.
   *
   * @param runner what runs its tool here; undefined when nothing does.
   */
  async run(id: string, runner: ToolRunner | undefined): Promise<void> {
    const { lease } = this.#host;
    const claim = await this.#store.claim(id, lease);
    if (claim === undefined) return;
    const hold = new Hold(this.#store, claim, lease);
    try {
      await new ClaimedTask(this.#host, this.#store, this.#sealer, claim, hold).run(runner);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown error';
      this.#host.runHost.warn(`a task could not be gone on with (${reason}). It is tried again.`);
      // Where this fails, too, the claim lapses.
      await this.#store.release(claim, this.#host.runHost.now() + RETRY);
    } finally {
      hold.end();
    }
  }
}

class ClaimedTask {
  readonly #host: TaskHost;
  readonly #store: TaskStore;
  readonly #sealer: TaskSealer;
  readonly #claim: TaskClaim;
  readonly #hold: Hold;
  #chunks: number;

  constructor(host: TaskHost, store: TaskStore, sealer: TaskSealer, claim: TaskClaim, hold: Hold) {
    this.#host = host;
    this.#store = store;
    this.#sealer = sealer;
    this.#claim = claim;
    this.#hold = hold;
    this.#chunks = claim.journal.length;
  }

  async run(runner: ToolRunner | undefined): Promise<void> {
    const state = await this.#open().catch((error: unknown) => {
      if (error instanceof StateRejected) return undefined;
      throw error;
    });
    if (state === undefined) {
      this.#host.runHost.warn(
        'a task cannot be opened here: its keys are not in the ring. It is left to others.',
      );
      return await this.#leave(LEAVE);
    }
    if (this.#claim.runs > MAX_RUNS) {
      return await this.#finish(state.head, failure(internalError('Every run of this task died.')));
    }
    if (runner?.has(state.head.tool) !== true) return await this.#leave(LEAVE);
    await this.#runTool(runner, state);
  }

  async #runTool(runner: ToolRunner, state: RunState): Promise<void> {
    const { head } = state;
    const written = [...state.journal];
    const run = new FlowTaskRun(this.#host, state, this.#hold, {
      append: async (lines) => {
        await this.#append(lines);
        written.push(...lines);
      },
      note: (message) => this.#note(message),
    });
    const ctx = taskContext(this.#claim.id, head, this.#hold.signal);
    const call = { tool: head.tool, args: head.args, ctx, run };
    const result = await runner.run(call).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const { outcome } = run;
    // Without an outcome the flow was not run: the SDK refused the arguments, or has no such tool (any more).
    if (run.isForeign || outcome === undefined) return await this.#leave(LEAVE);
    try {
      if (outcome.type === 'suspended') await this.#park(run, state, written, outcome);
      else await this.#end(head, outcome, result);
    } catch (error) {
      await this.#stopped(head, error);
    }
  }

  /** What the call would have been answered with (TASK-17). */
  async #end(
    head: TaskHead,
    outcome: Exclude<AttachedOutcome<unknown>, { type: 'suspended' }>,
    result: { readonly value: CallToolResult } | { readonly error: unknown },
  ): Promise<void> {
    const error = outcome.type === 'failed' ? outcome.error : undefined;
    if (error instanceof TaskStopped || isUnavailable(error)) throw error;
    if (error instanceof ProtocolError) return await this.#finish(head, failure(error));
    if ('error' in result) return await this.#finish(head, failure(internalError('Internal error')));
    await this.#finish(head, checked(result.value));
  }

  async #park(
    run: FlowTaskRun,
    state: RunState,
    written: readonly string[],
    { questions, asked, every, journal }: Extract<AttachedOutcome<unknown>, { type: 'suspended' }>,
  ): Promise<void> {
    const { id, answers } = this.#claim;
    const missing = missingCapabilities(questions, run.client);
    if (missing !== undefined) return await this.#finish(state.head, failure(missing));
    const answered = new Set(answers.map(({ wire }) => wire));
    const isAnswered = (wire: string): boolean => answered.has(wireDigest(id, wire));
    const parked = parkQuestions(state.parked, isAnswered, questions, asked);
    const isSame =
      journal.length === written.length && journal.every((line, index) => line === written[index]);
    await this.#hold.write(
      this.#store.park(this.#claim, {
        parked: await this.#sealer.seal(id, 'parked', JSON.stringify(parked)),
        wires: parked.open.map(({ wire }) => wireDigest(id, wire)),
        ...(every !== undefined && { dueAt: this.#host.runHost.now() + every }),
        ...(!isSame && { journal: await this.#sealer.seal(id, 'journal 0', journal.join('\n')) }),
      }),
    );
    this.#host.emit('suspended', () => ({
      ...roundEvent(state.head),
      questions: questions.map(({ key }) => key),
    }));
  }

  async #finish(head: TaskHead, outcome: StoredOutcome): Promise<void> {
    const state = 'error' in outcome ? 'failed' : 'completed';
    const sealed = await this.#sealer.seal(this.#claim.id, 'outcome', JSON.stringify(outcome));
    // An end that could not be written is no end: the task must not end with the store's error in its place.
    const isMine = await this.#store
      .finish(this.#claim, { state, outcome: sealed })
      .catch((error: unknown) => {
        throw new TaskStopped('unavailable', { cause: error });
      });
    if (!isMine) return;
    const failed = 'error' in outcome || outcome.result.isError === true;
    this.#host.emit('completed', () => ({ ...roundEvent(head), failed }));
  }

  /** A run that was ended from outside, or cannot go on here and now. */
  async #stopped(head: TaskHead, error: unknown): Promise<void> {
    if (error instanceof TaskStopped) {
      if (error.reason === 'cancelled') await this.#store.finish(this.#claim, { state: 'cancelled' });
      if (error.reason !== 'unavailable') return;
    }
    if (error instanceof TaskStopped || isUnavailable(error)) return await this.#leave(RETRY);
    // What is left are bounds of the engine's own, such as the number of questions.
    const text = error instanceof Error ? error.message : String(error);
    await this.#finish(head, { result: { content: [{ type: 'text', text }], isError: true } });
  }

  async #leave(ms: number): Promise<void> {
    await this.#store.release(this.#claim, this.#host.runHost.now() + ms);
  }

  async #append(lines: readonly string[]): Promise<void> {
    const sealed = await this.#sealer.seal(this.#claim.id, `journal ${this.#chunks}`, lines.join('\n'));
    this.#chunks += 1;
    await this.#hold.write(this.#store.append(this.#claim, sealed));
  }

  async #note(message: string): Promise<void> {
    const sealed = await this.#sealer.seal(this.#claim.id, 'note', message);
    await this.#hold.write(this.#store.note(this.#claim, sealed));
  }

  /** @throws StateRejected when it was not sealed for this task, or under keys that are not here. */
  async #open(): Promise<RunState> {
    const { id, head, journal, parked, answers, expiresAt } = this.#claim;
    const chunks: string[] = [];
    for (const [index, chunk] of journal.entries()) {
      chunks.push(await this.#sealer.open(id, `journal ${index}`, chunk));
    }
    const questions =
      parked === undefined
        ? NOTHING_PARKED
        : (JSON.parse(await this.#sealer.open(id, 'parked', parked)) as ParkedQuestions);
    const values = new Map<string, unknown>();
    for (const { wire, value } of answers) {
      values.set(wire, JSON.parse(await this.#sealer.open(id, `answer ${wire}`, value)));
    }
    const taken = Object.create(null) as Record<string, unknown>;
    for (const { key, wire } of questions.open) {
      const digest = wireDigest(id, wire);
      if (values.has(digest)) taken[key] = values.get(digest);
    }
    return {
      head: JSON.parse(await this.#sealer.open(id, 'head', head)) as TaskHead,
      journal: chunks.flatMap((chunk) => chunk.split('\n')),
      parked: questions,
      answers: taken,
      expiresAt,
    };
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof LedgerUnavailable || error instanceof RoundBusy;
}

function roundEvent({ tool, flow, round }: TaskHead): {
  readonly method: 'tools/call';
  readonly target: string;
  readonly flow: string;
  readonly round: number;
} {
  return { method: 'tools/call', target: tool, flow, round };
}

function internalError(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, message);
}

function failure({ code, message, data }: ProtocolError): StoredOutcome {
  return { error: { code, message, ...(isJson(data) && { data }) } };
}

/** As the SDK does for a request: a result that is none of `tools/call`, or no JSON, is an error. */
function checked(value: CallToolResult): StoredOutcome {
  const withContent = value.content === undefined ? { ...value, content: [] } : value;
  const check = specTypeSchemas.CallToolResult['~standard'].validate(withContent);
  if (check instanceof Promise || check.issues !== undefined || !isJson(withContent)) {
    return failure(internalError('The tool gave what is no result.'));
  }
  // With its type, since it stands where the whole answer would have (GAP-40).
  return { result: { ...withContent, resultType: 'complete' } };
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
