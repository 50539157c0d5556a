import type { UrlOutcome } from './flow.js';
import type { Answer } from './journal.js';
import type { Json } from './json.js';
import { rootsQuestion, samplingQuestion, urlQuestion } from './question.js';
import type { Ask, Reading } from './questions.js';
import type { CreateMessageAnswer, CreateMessageParams, Root } from './sampling.js';

/** The question of a call, and how its answer is read. Forms have theirs in `form-ask.ts`. */
type QuestionAndReading<T> = Omit<Ask<T>, 'key' | 'fresh'>;

/** A page to open: consent, not completion (URL-02). */
export function urlAsk(
  key: string,
  { message, url }: { readonly message: string; readonly url: string },
): QuestionAndReading<UrlOutcome> {
  return {
    question: urlQuestion(key, message, url),
    read: (answer) =>
      'action' in answer ? { type: 'value', value: { action: answer.action }, answer } : OF_ANOTHER_KIND,
  };
}

/** A completion by the client's model. */
export function samplingAsk(
  key: string,
  params: CreateMessageParams,
): QuestionAndReading<CreateMessageAnswer> {
  return {
    question: samplingQuestion(key, params),
    read: (answer) => readResult(answer, (result) => result as unknown as CreateMessageAnswer),
  };
}

/** The client's roots. */
export function rootsAsk(): QuestionAndReading<readonly Root[]> {
  return {
    question: rootsQuestion(),
    read: (answer) => readResult(answer, (result) => result['roots'] as unknown as readonly Root[]),
  };
}

const OF_ANOTHER_KIND = { type: 'unusable', reason: 'it is of another kind.' } as const;

function readResult<T>(answer: Answer, take: (result: { readonly [member: string]: Json }) => T): Reading<T> {
  return 'result' in answer ? { type: 'value', value: take(answer.result), answer } : OF_ANOTHER_KIND;
}
