import { AnswerRefused, Unanswered } from '../errors.js';
import { checkAnswer, type Answer, type Answers } from './answer.js';
import { reasonOf } from './clock.js';
import type { ServerIdentity } from './identity.js';
import { jsonCopy } from './json.js';
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
  readonly form?: Handler<FormQuestion> | undefined;
  readonly url?: Handler<UrlQuestion> | undefined;
  readonly sampling?: Handler<SamplingQuestion> | undefined;
  readonly roots?: Handler<RootsQuestion> | undefined;
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
  const { kind } = question;
  if (handlers[kind] === undefined) throw new Unanswered(question.key, flow);
  let answer: Answer;
  try {
    // A copy of its own: an answer is checked against what the server asked, whatever a form does with its choices.
    const shown = jsonCopy(question);
    // Called on the object, which may be one of a class.
    const all = handlers as Record<QuestionKind, Handler<Question>>;
    answer = await unlessAborted(async () => all[kind](shown, context), context.signal);
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
