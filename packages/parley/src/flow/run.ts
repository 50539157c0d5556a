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
    let inPlaceRounds = 0;
    const end = (outcome: RunOutcome<T>): void => {
      if (over) return;
      over = true;
      input.signal?.removeEventListener('abort', onAbort);
      resolve(outcome);
      calls.end(outcome.type === 'suspended');
    };
    const fail = (error: unknown): void => end({ type: 'failed', error, journal: calls.journal() });
    const onAbort = (): void => fail(input.signal?.reason);
    const calls: FlowCalls<Ctx> = new FlowCalls(input, fail, () => void rest());

    const rest = async (): Promise<void> => {
      if (asking) return;
      try {
        const questions = calls.questions.questions();
        const asked = calls.questions.asked();
        checkRounds(input, questions.length, inPlaceRounds);
        asking = true;
        const answers = questions.length > 0 ? await input.inPlace?.(questions) : undefined;
        asking = false;
        if (over) return;
        if (answers === undefined) end({ type: 'suspended', questions, asked, journal: calls.journal() });
        else calls.questions.answer(answers, asked);
        inPlaceRounds += 1;
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

/** Rounds that ask and rounds that only wait have bounds of their own: a person at a sign-in page is slow. */
function checkRounds<Ctx>(
  { round, waits, limits }: RunInput<Ctx>,
  questions: number,
  inPlaceRounds: number,
): void {
  if (questions > 0 && round - waits + inPlaceRounds >= limits.rounds)
    throw new TooManyRounds('rounds', limits.rounds);
  if (questions === 0 && waits >= limits.waits) throw new TooManyRounds('waits', limits.waits);
}
