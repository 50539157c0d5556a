import { TooManyRounds } from '../errors.js';
import type { DetachOptions, Flow } from './flow.js';
import { FlowCalls } from './flow-calls.js';
import type { Journal } from './journal.js';
import type { AskedQuestion } from './questions.js';
import type { KeyedQuestion, RunInput } from './run-input.js';

/** How a run ended that could not detach, or had done so before. */
export type AttachedOutcome<T> =
  | { readonly type: 'completed'; readonly value: T; readonly journal: Journal }
  | { readonly type: 'failed'; readonly error: unknown; readonly journal: Journal }
  | {
      readonly type: 'suspended';
      /** Empty when the flow only waits: the client is then asked to come back. */
      readonly questions: readonly KeyedQuestion[];
      readonly asked: readonly AskedQuestion[];
      /** Milliseconds after which a `waitFor` wants to look again, questions or not; absent when nothing waits. */
      readonly every?: number;
      readonly journal: Journal;
    };

/** How a run ended. */
export type RunOutcome<T> =
  | AttachedOutcome<T>
  | {
      /** The flow goes on as a task; the detach is the last thing in the journal that was delivered. */
      readonly type: 'detached';
      readonly options: DetachOptions;
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
  input: RunInput<Ctx> & { readonly detached?: 'done' },
): Promise<AttachedOutcome<T>>;
export function runFlow<Ctx, T>(
  handler: (flow: Flow<Ctx>) => T | Promise<T>,
  input: RunInput<Ctx>,
): Promise<RunOutcome<T>>;
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
      calls.end(outcome.type === 'suspended' || outcome.type === 'detached');
    };
    const fail = (error: unknown): void => end({ type: 'failed', error, journal: calls.journal() });
    const onAbort = (): void => fail(input.signal?.reason);
    const calls: FlowCalls<Ctx> = new FlowCalls(input, fail, () => void rest());

    const rest = async (): Promise<void> => {
      if (asking) return;
      try {
        const questions = calls.questions.questions();
        const detach = questions.length === 0 ? calls.takeDetach() : undefined;
        if (detach !== undefined) {
          // In a task it was delivered, and the run goes on.
          if (input.detached === 'possible')
            end({ type: 'detached', options: detach, journal: calls.journal() });
          return;
        }
        const asked = calls.questions.asked();
        checkRounds(input, questions.length, inPlaceRounds);
        asking = true;
        const answers = questions.length > 0 ? await input.inPlace?.(questions) : undefined;
        asking = false;
        if (over) return;
        if (answers === undefined) end(suspended(questions, asked, calls));
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
    input.signal?.addEventListener('abort', onAbort);
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

function suspended<Ctx>(
  questions: readonly KeyedQuestion[],
  asked: readonly AskedQuestion[],
  calls: FlowCalls<Ctx>,
): Extract<RunOutcome<never>, { type: 'suspended' }> {
  const { every } = calls;
  return {
    type: 'suspended',
    questions,
    asked,
    ...(every !== undefined && { every }),
    journal: calls.journal(),
  };
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
