import type { InputResponse, InputResponses } from '@modelcontextprotocol/client';
import { AnswerRefused, ConfigurationError, Unanswered } from '../errors.js';
import { quoteName } from '../quote-name.js';
import { checkAnswer, type Answer } from './answer.js';
import type { SavedFlow } from './saved-flow.js';

/** Answers by the key of their question. A map takes every key, `__proto__` too. */
export type AnswersByKey = ReadonlyMap<string, Answer> | { readonly [key: string]: Answer };

/**
 * What is sent for the answers, on an object without a prototype, or nothing where there is none. A round needs all
 * of its questions answered (MRTR-C-02), a task some (TASK-21).
 *
 * @throws AnswerRefused, Unanswered when an answer does not fit, or is missing.
 * @throws ConfigurationError for an answer to what was not asked.
 */
export function responsesTo(
  flow: SavedFlow,
  answers: AnswersByKey,
  needed: 'all' | 'some',
): InputResponses | undefined {
  const given = answers instanceof Map ? answers : new Map<string, unknown>(Object.entries(answers));
  const asked = new Set(flow.questions.map(({ key }) => key));
  for (const key of given.keys()) {
    if (!asked.has(key)) throw new ConfigurationError(`No question ${quoteName(key)} was asked.`);
  }
  const responses = Object.create(null) as Record<string, InputResponse>;
  for (const question of flow.questions) {
    if (!given.has(question.key)) {
      if (needed === 'some') continue;
      throw new Unanswered(question.key, flow);
    }
    const check = checkAnswer(question, given.get(question.key));
    if (check.type === 'faulty') throw new AnswerRefused(question.key, check.reason, flow);
    if (check.type === 'unsayable') throw new Unanswered(question.key, flow);
    responses[question.key] = check.response;
  }
  return Object.keys(responses).length === 0 ? undefined : responses;
}
