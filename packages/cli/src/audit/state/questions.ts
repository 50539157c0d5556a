import type { Pause, Question } from '../attack.js';
import type { Json, JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

export type Questions = Readonly<Record<string, Question>>;

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

/** Whether a question asks for consent rather than for data: one boolean, no field at all, or a page to visit. */
export function isConfirmation({ method, params }: Question): boolean {
  if (method !== 'elicitation/create') return false;
  if (params['mode'] === 'url') return true;
  const fields = Object.values(fieldsOf(params));
  return (
    fields.length === 0 ||
    fields.filter((field) => isObject(field) && field['type'] === 'boolean').length === 1
  );
}

function shapeOf(questions: Questions): string {
  return Object.entries(questions)
    .map(([key, { method, params }]) =>
      JSON.stringify([key, method, Object.keys(fieldsOf(params)).toSorted()]),
    )
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
