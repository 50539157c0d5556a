import { TooManyRounds } from '../errors.js';
import type { Flow } from './flow.js';
import { FlowCalls } from './flow-calls.js';
import type { Journal } from './journal.js';
import type { AskedQuestion } from './questions.js';
import type { KeyedQuestion, RunInput } from './run-input.js';

/** How a run ended. */
export type RunOutcome<T> =
  | { readonly type: 'completed'; readonly value: T; readonly journal: Journal }
  | { readonly type: 'failed'; readonly error: unknown; readonly journal: Journal }
  | {
      readonly type: 'suspended';
      /** Empty when the flow only waits: the client is then asked to come back. */
      readonly questions: readonly KeyedQuestion[];
      readonly asked: readonly AskedQuestion[];
      readonly journal: Journal;
    };

/**
 * Runs a handler from its top until it ends or needs an answer. Knows nothing of tokens, transports or the
 * wire: a journal and answers go in; a result, or questions with the journal so far, come out.
 *
 * Never rejects: what the handler throws is an outcome.
 */
export function runFlow<Ctx, T>(
  handler: (flow: Flow<Ctx>) => T | Promise<T>,
  input: RunInput<Ctx>,
): Promise<RunOutcome<T>> {
  return new Promise((resolve) => {
    let over = false;
    let asking = false;
    const end = (outcome: RunOutcome<T>): void => {
      if (over) return;
      over = true;
      input.signal?.removeEventListener('abort', onAbort);
      resolve(outcome);
      calls.end();
    };
    const fail = (error: unknown): void => end({ type: 'failed', error, journal: calls.journal() });
    const onAbort = (): void => fail(input.signal?.reason);
    const calls: FlowCalls<Ctx> = new FlowCalls(input, fail, () => void rest());

    const rest = async (): Promise<void> => {
      if (asking) return;
      try {
        const questions = calls.questions.questions();
        asking = true;
        const answers = questions.length > 0 ? await input.inPlace?.(questions) : undefined;
        asking = false;
        if (over) return;
        if (answers !== undefined) calls.questions.answer(answers);
        else if (input.round >= input.limits.rounds) fail(new TooManyRounds(input.limits.rounds));
        else end({ type: 'suspended', questions, asked: calls.questions.asked(), journal: calls.journal() });
      } catch (error) {
        fail(error);
      }
    };

    if (input.signal?.aborted === true) {
      fail(input.signal.reason);
      return;
    }
    input.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      Promise.resolve(handler(calls)).then(
        (value) => end({ type: 'completed', value, journal: calls.journal() }),
        fail,
      );
    } catch (error) {
      fail(error);
    }
  });
}
