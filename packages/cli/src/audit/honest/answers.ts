import { isJsonObject, parseJsonObject } from '../../json-input.js';
import { WrongUse } from '../../outcome.js';
import { inQuotes } from '../../quoted.js';
import { harmlessLine } from '../../safe-text.js';
import { readTextFile } from '../../text-input.js';
import type { Question } from '../attack.js';
import type { JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';
import { sampleValue } from './sample-value.js';

/** Answers that the user has written down, by the key of the question: one for each time that it is asked in a flow. */
export type WrittenAnswers = ReadonlyMap<string, readonly JsonObject[]>;

/** Answers the questions of one flow. */
export type Answerer = (key: string, question: Question) => JsonObject;

/**
 * Reads a file of answers, in the format of `parley call --answers`.
 *
 * @throws WrongUse when there is no such file, or it is none of answers.
 */
export async function readAnswers(path: string): Promise<WrittenAnswers> {
  const shown = harmlessLine(path);
  const file = parseJsonObject(await readTextFile(path), shown);
  const entries = Object.entries(file).map(([key, value]): [string, JsonObject[]] => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.length === 0 || !values.every(isJsonObject)) {
      throw new WrongUse(`${shown}: the answer to ${inQuotes(key)} is not an object, or a list of objects.`);
    }
    // They come out of JSON.
    return [key, values as JsonObject[]];
  });
  return new Map(entries);
}

/** Answers a new flow as a good client does: as was written down, and else with what fits the question's schema. */
export function answererOf(written: WrittenAnswers = new Map()): Answerer {
  const asked = new Map<string, number>();
  return (key, question) => {
    const nth = asked.get(key) ?? 0;
    asked.set(key, nth + 1);
    const given = written.get(key)?.[nth];
    return given === undefined ? madeAnswer(question) : onTheWire(given, question);
  };
}

/** A value of the file is the content of a form, or an answer as it is on the wire. */
function onTheWire(given: JsonObject, { method }: Question): JsonObject {
  const { action } = given;
  const isWire =
    (action === 'accept' || action === 'decline' || action === 'cancel') &&
    Object.keys(given).every((name) => name === 'action' || name === 'content');
  if (!isWire) return method === 'elicitation/create' ? { action: 'accept', content: given } : given;
  return action === 'accept' ? given : { action };
}

function madeAnswer({ method, params }: Question): JsonObject {
  switch (method) {
    case 'elicitation/create':
      return params['mode'] === 'url'
        ? { action: 'accept' }
        : { action: 'accept', content: contentOf(params['requestedSchema'] as JsonObject | undefined) };
    case 'sampling/createMessage':
      return {
        role: 'assistant',
        content: { type: 'text', text: 'audit' },
        model: 'audit',
        stopReason: 'endTurn',
      };
    case 'roots/list':
      return { roots: [] };
    default:
      return {};
  }
}

function contentOf(schema: JsonObject | undefined): JsonObject {
  const value = sampleValue(isObject(schema) ? { ...schema, type: 'object' } : { type: 'object' }, schema);
  return isObject(value) ? value : {};
}
