import { WrongUse } from './outcome.js';

/** A JSON object as it was parsed: `__proto__` is an own member like any other. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses a JSON object that a person wrote.
 *
 * @param what names its source in the message. Nothing of the text is repeated: it may be a secret.
 * @throws WrongUse when it is none.
 */
export function parseJsonObject(text: string, what: string): JsonObject {
  const value = parseJson(text, what);
  if (!isJsonObject(value)) throw new WrongUse(`${what} is JSON, but not an object: { … }`);
  return value;
}

/** @throws WrongUse when it is not JSON. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    throw new WrongUse(`${what} is not JSON${position === undefined ? '' : ` (position ${position})`}.`);
  }
}
