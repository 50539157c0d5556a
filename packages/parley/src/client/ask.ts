import { AnswerRefused, Unanswered } from '../errors.js';
import { checkAnswer, type Answer, type Answers } from './answer.js';
import { reasonOf } from './clock.js';
import type { ServerIdentity } from './identity.js';
import type {
  FormQuestion,
  Question,
  QuestionKind,
  RootsQuestion,
  SamplingQuestion,
  UrlQuestion,
} from './question.js';
import type { DrivenRequest } from './request.js';
import type { SavedFlow } from './saved-flow.js';
import { stopped } from './send.js';

/** What a handler knows beside the question. */
export interface AskContext {
  /** Who asks, as the host configured it. Show it with every question (FORM-23). */
  readonly server: ServerIdentity;
  /** The call that it is asked for. */
  readonly request: DrivenRequest;
  /** The round that asked, from 1. */
  readonly round: number;
  /** Aborts when the call is over, and the question should leave the screen. */
  readonly signal: AbortSignal;
}

type Handler<Q extends Question> = (
  question: Q,
  context: AskContext,
) => Promise<Answers[Q['kind']]> | Answers[Q['kind']];

/**
 * What answers each kind of question. A kind without a handler is not declared to the server. Handlers are called
 * one after another, never two at once; one that throws ends the call, and nothing is sent.
 */
export interface Handlers {
  readonly form?: Handler<FormQuestion>;
  readonly url?: Handler<UrlQuestion>;
  readonly sampling?: Handler<SamplingQuestion>;
  readonly roots?: Handler<RootsQuestion>;
}

/** The kinds that there are handlers for. */
export function answerable(handlers: Handlers): QuestionKind[] {
  const kinds: readonly QuestionKind[] = ['form', 'url', 'sampling', 'roots'];
  return kinds.filter((kind) => handlers[kind] !== undefined);
}

/**
 * Asks one question.
 *
 * @throws Unanswered when there is no answer that could be sent, AnswerRefused when it does not fit.
 */
export async function ask(
  handlers: Handlers,
  question: Question,
  context: AskContext,
  flow?: SavedFlow,
): Promise<Answer> {
  const handler = handlers[question.kind] as Handler<Question> | undefined;
  if (handler === undefined) throw new Unanswered(question.key, flow);
  let answer: Answer;
  try {
    answer = await unlessAborted(async () => handler(question, context), context.signal);
  } catch (error) {
    if (context.signal.aborted) throw stopped(context.signal, flow);
    throw new Unanswered(question.key, flow, { cause: error });
  }
  const check = checkAnswer(question, answer);
  if (check.type === 'faulty') throw new AnswerRefused(question.key, check.reason, flow);
  if (check.type === 'unsayable') throw new Unanswered(question.key, flow);
  return answer;
}

/** Waits for a value, but not for longer than the signal allows: a handler may not listen to it. */
export async function unlessAborted<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw reasonOf(signal);
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(reasonOf(signal));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([make(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
