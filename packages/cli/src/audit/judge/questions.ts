import type { Pause, Question } from '../attack.js';
import type { Json, JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

export type Questions = Readonly<Record<string, Question>>;

/** The questions of a result, as far as they can be read. */
export function questionsIn(result: JsonObject | undefined): Questions {
  const asked = result?.['inputRequests'];
  if (!isObject(asked)) return {};
  return Object.fromEntries(
    Object.entries(asked).flatMap(([key, question]) => {
      if (!isObject(question) || typeof question['method'] !== 'string') return [];
      const { method, params } = question;
      return [[key, { method, params: isObject(params) ? params : {} }] as const];
    }),
  );
}

/**
 * Which pause of the honest run asked the same, as its index; -1 for questions of none. Of pauses that ask for the same
 * fields, the one whose words are most alike: messages quote what was answered, and that may have been changed.
 */
export function pauseThatAsks(questions: Questions, pauses: readonly Pause[]): number {
  const shape = shapeOf(questions);
  const words = wordsOf(questions);
  const scores = pauses.map((pause) =>
    shapeOf(pause.questions) === shape ? alike(words, wordsOf(pause.questions)) : -1,
  );
  const best = Math.max(-1, ...scores);
  return best === -1 ? -1 : scores.indexOf(best);
}

/** Whether two servers' answers ask for the same fields. */
export function sameShape(one: Questions, other: Questions): boolean {
  return shapeOf(one) === shapeOf(other);
}

/**
 * Whether the answer to a question is a decision rather than data: one boolean, or no field at all. A page is none: to
 * accept it is to consent to open it, and what is done there comes by another way (URL-02).
 */
export function isConfirmation({ method, params }: Question): boolean {
  if (method !== 'elicitation/create' || params['mode'] === 'url') return false;
  const fields = Object.values(fieldsOf(params));
  return (
    fields.length === 0 ||
    fields.filter((field) => isObject(field) && field['type'] === 'boolean').length === 1
  );
}

/** What a question is known by, beside its words: its kind and its fields. */
export function shapeOfQuestion({ method, params }: Question): string {
  return JSON.stringify([method, params['mode'] ?? 'form', ...Object.keys(fieldsOf(params)).toSorted()]);
}

function shapeOf(questions: Questions): string {
  return Object.entries(questions)
    .map(([key, question]) => JSON.stringify([key, shapeOfQuestion(question)]))
    .toSorted()
    .join();
}

function fieldsOf(params: JsonObject): JsonObject {
  const schema = params['requestedSchema'];
  const fields = isObject(schema) ? schema['properties'] : undefined;
  return isObject(fields) ? fields : {};
}

function wordsOf(questions: Questions): ReadonlySet<string> {
  const messages = Object.values(questions).map(({ params }) => textOf(params['message']));
  return new Set(
    messages
      .join(' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu),
  );
}

function textOf(message: Json | undefined): string {
  return typeof message === 'string' ? message : '';
}

/** The share of words that two sets have in common, from 0 to 1. */
function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const all = new Set([...one, ...other]);
  return all.size === 0 ? 1 : [...one].filter((word) => other.has(word)).length / all.size;
}
