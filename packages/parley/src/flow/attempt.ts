import { NotJson, OutcomeUnknown, StepFailed } from '../errors.js';
import type { StepContext } from './flow.js';
import type { FailedEntry } from './journal.js';
import { recordable, type Json } from './json.js';

/** Why a piece of the author's work has no result. */
export type Failure = StepFailed | NotJson | OutcomeUnknown;

/** What came of a piece of the author's work: its result as JSON (undefined when it gave nothing), or why there is none. */
export type Attempt = { readonly value: Json | undefined } | { readonly failure: Failure };

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
export function failureEntry(type: FailedEntry['type'], key: string, failure: Failure): FailedEntry {
  if (failure instanceof OutcomeUnknown) return { type, key, name: failure.name, message: '', unknown: true };
  if (failure instanceof StepFailed) {
    return { type, key, name: failure.reasonName, message: failure.reason };
  }
  const { path, found } = failure;
  return { type, key, name: failure.name, message: failure.message, notJson: { path, found } };
}

/** The error that a recorded failure throws again. */
export function recordedFailure({ key, name, message, notJson, unknown }: FailedEntry): Failure {
  if (unknown === true) return new OutcomeUnknown(key);
  if (notJson !== undefined) return new NotJson(key, notJson.path, notJson.found);
  return new StepFailed(key, name, message);
}

/** An attempt as a text, for a ledger: what a second run of the same work gets. */
export function writeAttempt(key: string, result: Attempt): string {
  return JSON.stringify(
    'failure' in result ? { failed: failureEntry('once-failed', key, result.failure) } : result,
  );
}

/** The attempt that a text of {@link writeAttempt} holds. */
export function readAttempt(text: string): Attempt {
  const read = JSON.parse(text) as { readonly failed?: FailedEntry; readonly value?: Json };
  return read.failed === undefined ? { value: read.value } : { failure: recordedFailure(read.failed) };
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
