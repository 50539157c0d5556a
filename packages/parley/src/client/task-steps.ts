import {
  ProtocolError,
  type CallToolResult,
  type Client,
  type ClientCapabilities,
} from '@modelcontextprotocol/client';
import { InvalidResponse, TaskGone } from '../errors.js';
import { quoteName } from '../quote-name.js';
import type { Clock } from './clock.js';
import { sortedJson, type JsonObject } from './json.js';
import { digestOf, keyless, readQuestions, type Question } from './question.js';
import { responsesTo, type AnswersByKey } from './responses.js';
import type { SavedFlow } from './saved-flow.js';
import { scrub } from './scrub.js';
import { sendTask, type TaskRequest } from './send-task.js';
import { withTasks, type RequestSettings } from './send.js';
import { readOutcome, readTask, type SavedTask, type TaskNews } from './task.js';

/** A call that has become a task. */
export type TaskFlow = SavedFlow & { readonly task: SavedTask };

/** What a look at a task came to. */
export type Look =
  | { readonly type: 'pending'; readonly flow: TaskFlow; readonly repeated: readonly string[] }
  | { readonly type: 'completed'; readonly result: CallToolResult }
  | { readonly type: 'failed'; readonly error: ProtocolError }
  | { readonly type: 'cancelled' };

interface TaskStepsOptions {
  readonly client: Client;
  /** What can be answered, without the extension. */
  readonly declared: ClientCapabilities;
  readonly settings: RequestSettings;
  readonly clock: Clock;
}

/** Longer than this, nobody wants to wait for a call that they have given up. */
const CANCEL_TIMEOUT_MS = 5000;

/** Whether a call has become a task. */
export function isTaskFlow(flow: SavedFlow): flow is TaskFlow {
  return flow.task !== undefined;
}

function shown({ task, questions }: TaskFlow): string {
  return sortedJson({ task, questions });
}

/** A flow whose latest request was answered with a task. The keys of its rounds say nothing of it (TASK-13). */
export function becomeTask(before: SavedFlow, task: TaskNews, now: number): TaskFlow {
  const { requestState: _state, sentAt: _sent, ...flow } = before;
  return {
    ...flow,
    revision: flow.revision + 1,
    round: flow.round + 1,
    questions: [],
    repeats: { digest: '', times: 0 },
    askedAt: now,
    task: { ...task, seenAt: now, answered: [] },
  };
}

/** A task, one request at a time. It holds nothing between them. */
export class TaskSteps {
  readonly #client: Client;
  readonly #declared: ClientCapabilities;
  readonly #settings: RequestSettings;
  readonly #clock: Clock;

  constructor({ client, declared, settings, clock }: TaskStepsOptions) {
    this.#client = client;
    this.#declared = declared;
    this.#settings = settings;
    this.#clock = clock;
  }

  /**
   * Looks at the task. It changes nothing, so it may be done again (TASK-49).
   *
   * @throws TaskGone, InvalidResponse, UnsafeUrl, and the client's own errors.
   */
  async look(flow: TaskFlow, signal: AbortSignal): Promise<Look> {
    const { id, seenAt, answered } = flow.task;
    const source = await this.#send('tasks/get', flow, { signal });
    const news = readTask(source);
    if (news.id !== id) throw new InvalidResponse('it is about another task');
    const outcome = readOutcome(source, news.status);
    switch (outcome.type) {
      case 'completed':
      case 'cancelled':
        return outcome;
      case 'failed':
        scrub(outcome.error, id, '[taskId]');
        return outcome;
      case 'working':
      case 'asking': {
        const inputRequests = outcome.type === 'asking' ? outcome.inputRequests : {};
        const all = readQuestions(inputRequests, this.#declared);
        const done = new Set(answered);
        const questions = all.filter(({ key }) => !done.has(key));
        const repeated = all.filter(({ key }) => done.has(key)).map(({ key }) => key);
        const seen = await this.#asked({ ...flow, task: { ...news, seenAt, answered } }, questions);
        // What is as it was is the same flow.
        const revision = shown(seen) === shown(flow) ? flow.revision : flow.revision + 1;
        return { type: 'pending', flow: { ...seen, revision }, repeated };
      }
    }
  }

  /**
   * Sends answers to some of what the task asks, or to all of it. Each key is taken once by the server, so the same
   * answers may be sent again when nobody knows whether they arrived (TASK-18, TASK-20).
   *
   * @returns the flow with what is still asked, or nothing when there was no answer to send.
   * @throws AnswerRefused, Unanswered, ConfigurationError when nothing was sent; and the client's own errors.
   */
  async answer(flow: TaskFlow, answers: AnswersByKey, signal: AbortSignal): Promise<TaskFlow | undefined> {
    const inputResponses = responsesTo(flow, answers, 'some');
    if (inputResponses === undefined) return undefined;
    await this.#send('tasks/update', flow, { inputResponses, signal });
    const sent = new Set(Object.keys(inputResponses));
    return {
      ...flow,
      revision: flow.revision + 1,
      questions: flow.questions.filter(({ key }) => !sent.has(key)),
      task: { ...flow.task, answered: [...flow.task.answered, ...sent] },
    };
  }

  /**
   * Asks the server to cancel the task. It may end in another way all the same (TASK-26).
   *
   * @throws TaskGone, and the client's own errors.
   */
  async cancel(flow: TaskFlow): Promise<void> {
    const timeout = Math.min(this.#settings.timeout ?? CANCEL_TIMEOUT_MS, CANCEL_TIMEOUT_MS);
    await this.#send('tasks/cancel', flow, { signal: new AbortController().signal, settings: { timeout } });
  }

  async #send(
    method: TaskRequest['method'],
    flow: TaskFlow,
    parts: Partial<TaskRequest> & Pick<TaskRequest, 'signal'>,
  ): Promise<JsonObject> {
    const { id, seenAt, ttlMs } = flow.task;
    try {
      return await sendTask(this.#client, {
        method,
        taskId: id,
        capabilities: withTasks(this.#declared),
        settings: this.#settings,
        ...parts,
      });
    } catch (error) {
      // For answers the same number may be about them, so a look must tell (TASK-29, GAP-41).
      const isGone = error instanceof ProtocolError && error.code === -32_602 && method !== 'tasks/update';
      if (!isGone) throw error;
      const isOver = ttlMs !== null && this.#clock.now() >= seenAt + ttlMs;
      throw new TaskGone(isOver ? 'expired' : 'unknown', { cause: error });
    }
  }

  /** What is new makes a round of its own, with the bounds that rounds have. */
  async #asked(flow: TaskFlow, questions: readonly Question[]): Promise<TaskFlow> {
    const before = new Map(flow.questions.map((question) => [question.key, question]));
    for (const question of questions) {
      const known = before.get(question.key);
      // The person may be looking at the old text while this arrives: the answer would be to another question.
      if (known !== undefined && sortedJson(known) !== sortedJson(question)) {
        throw new InvalidResponse(`it changes the question ${quoteName(question.key)} under its key`);
      }
    }
    const isNew = questions.filter(({ key }) => !before.has(key));
    if (isNew.length === 0) return { ...flow, questions };
    // A question that is asked again has a new key (TASK-18), so a loop shows in all but the keys.
    const digest = await digestOf(isNew.map(keyless));
    const times = flow.repeats.digest === digest ? flow.repeats.times + 1 : 1;
    return {
      ...flow,
      questions,
      round: flow.round + 1,
      repeats: { digest, times },
      askedAt: this.#clock.now(),
    };
  }
}
