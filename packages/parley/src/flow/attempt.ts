import { NotJson, StepFailed } from '../errors.js';
import type { StepContext } from './flow.js';
import type { FailedEntry } from './journal.js';
import { recordable, type Json } from './json.js';

/** What came of a piece of the author's work: its result as JSON (undefined when it gave nothing), or why there is none. */
export type Attempt = { readonly value: Json | undefined } | { readonly failure: StepFailed | NotJson };

/** Longer texts of failures are cut: they are recorded, and the state has a bound. */
const MAX_MESSAGE = 1_000;
const MAX_NAME = 100;

/** Runs the author's function. Never rejects, whatever it throws. */
export async function attempt<T>(
  key: string,
  call: (context: StepContext) => T | Promise<T>,
  context: StepContext,
): Promise<Attempt> {
  try {
    const result = await call(context);
    return { value: result === undefined ? undefined : recordable(key, result) };
  } catch (error) {
    if (error instanceof NotJson) return { failure: error };
    const name = error instanceof Error ? asText(error.name) : 'Error';
    const message = asText(error instanceof Error ? error.message : error);
    const cut = [name.slice(0, MAX_NAME), message.slice(0, MAX_MESSAGE)] as const;
    return { failure: new StepFailed(key, ...cut, { cause: error }) };
  }
}

/** How a failure is recorded. All are: work that was done must not be done again because its result was of no use. */
export function failureEntry(
  type: FailedEntry['type'],
  key: string,
  failure: StepFailed | NotJson,
): FailedEntry {
  if (failure instanceof StepFailed) {
    return { type, key, name: failure.reasonName, message: failure.reason };
  }
  const { path, found } = failure;
  return { type, key, name: failure.name, message: failure.message, notJson: { path, found } };
}

/** The error that a recorded failure throws again. */
export function recordedFailure({ key, name, message, notJson }: FailedEntry): StepFailed | NotJson {
  if (notJson !== undefined) return new NotJson(key, notJson.path, notJson.found);
  return new StepFailed(key, name, message);
}

/** Whatever was thrown, as a text: a step may throw what has none. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return String(value);
  } catch {
    return 'something that has no text';
  }
}
