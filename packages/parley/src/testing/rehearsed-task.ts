import { TooManyRounds } from '../errors.js';
import type { AttachedOutcome, FlowLimits, Journal, KeyedQuestion, RunInput } from '../flow/index.js';

/** What a run of a task starts from; all else is as it was when the flow detached. */
export interface TaskRunInput extends Pick<RunInput<unknown>, 'journal' | 'asked' | 'answers' | 'limits'> {
  readonly detached: 'done';
}

/** A flow that goes on as a task, and what a rehearsal knows of it. */
export interface RehearsedTask<T> {
  readonly journal: Journal;
  readonly limits: FlowLimits;
  /** Runs the handler from its top. */
  readonly run: (input: TaskRunInput) => Promise<AttachedOutcome<T>>;
  /** The answers to these questions; undefined when one of them has none. */
  readonly answer: (questions: readonly KeyedQuestion[]) => Readonly<Record<string, unknown>> | undefined;
}

/**
 * Runs a task to its end: its journal stays where it is, and only answers come. The rounds of a task have no bound,
 * but a rehearsal must end, so here `limits.rounds` and `limits.waits` count anew.
 */
export async function rehearseTask<T>({
  journal,
  limits,
  run,
  answer,
}: RehearsedTask<T>): Promise<AttachedOutcome<T>> {
  const task = { limits: { ...limits, rounds: Infinity, waits: Infinity }, detached: 'done' } as const;
  const left = { rounds: limits.rounds, waits: limits.waits };
  let from: Pick<TaskRunInput, 'journal' | 'asked' | 'answers'> = { journal, asked: [], answers: undefined };
  for (;;) {
    const outcome = await run({ ...task, ...from });
    if (outcome.type !== 'suspended') return outcome;
    const { questions, asked } = outcome;
    const bound = questions.length > 0 ? 'rounds' : 'waits';
    left[bound] -= 1;
    if (left[bound] === 0) {
      return { type: 'failed', error: new TooManyRounds(bound, limits[bound]), journal: outcome.journal };
    }
    const answers = questions.length > 0 ? answer(questions) : undefined;
    if (answers === undefined && questions.length > 0) return outcome;
    from = { journal: outcome.journal, asked, answers };
  }
}
