/**
 * Every error that this library throws or rejects with.
 *
 * One base class and one closed union of codes, so that a `switch` over `error.code` is checked by the
 * compiler. These are local errors: their codes are strings and never travel. What goes on the wire are the
 * JSON-RPC errors of the specification, made in `gate/wire-errors.ts`.
 *
 * No message ever holds a token, an answer, a step's result or an identity: messages end up in logs and in
 * front of models.
 */

/** The stable codes, one for each situation that a program may want to tell apart. */
export type ParleyErrorCode =
  | 'answer_invalid'
  | 'configuration'
  | 'flow_diverged'
  | 'input_refused'
  | 'invalid_key'
  | 'invalid_question'
  | 'key_reused'
  | 'ledger_full'
  | 'ledger_unavailable'
  | 'nested_call'
  | 'not_json'
  | 'outcome_unknown'
  | 'question_unstable'
  | 'round_busy'
  | 'state_rejected'
  | 'state_too_large'
  | 'step_failed'
  | 'too_many_questions'
  | 'too_many_rounds'
  | 'uncanonical';

/** The base of all errors of this library; tell them apart by {@link ParleyError.code}. */
export abstract class ParleyError extends Error {
  /** A stable literal for programs; the message is for people and may change. */
  abstract readonly code: ParleyErrorCode;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An option, a key or the way the library was attached is wrong. Thrown where something is set up, never for what a client sent. */
export class ConfigurationError extends ParleyError {
  readonly code = 'configuration';
}

/** A key of a question or step that cannot be used: not a string, or one that JavaScript treats specially. */
export class InvalidKey extends ParleyError {
  readonly code = 'invalid_key';
}

/** A question that must not be sent: a schema outside the restricted form, a secret asked by form, a bad URL. */
export class InvalidQuestion extends ParleyError {
  readonly code = 'invalid_question';
  constructor(
    readonly key: string,
    reason: string,
  ) {
    super(`Question '${key}' cannot be asked: ${reason}`);
  }
}

/** The same key was used for two questions or steps of one flow. */
export class KeyReused extends ParleyError {
  readonly code = 'key_reused';
  constructor(readonly key: string) {
    super(
      `Key '${key}' is used twice in this flow. Keys name what was recorded: give each question and step its own.`,
    );
  }
}

/** A recorded entry is of another kind than what the handler now asks for under its key. */
export class FlowDiverged extends ParleyError {
  readonly code = 'flow_diverged';
  constructor(
    readonly key: string,
    readonly recorded: string,
    readonly attempted: string,
  ) {
    super(
      `Key '${key}' was recorded as ${recorded} and is now used as ${attempted}. ` +
        `Give changed code a new key, or a new 'version' on the handler.`,
    );
  }
}

/** The person declined or cancelled a question that the handler cannot go on without. */
export class InputRefused extends ParleyError {
  readonly code = 'input_refused';
  constructor(
    readonly key: string,
    readonly action: 'decline' | 'cancel',
  ) {
    super(
      `The question '${key}' was ${action === 'decline' ? 'declined' : 'cancelled'}, so the call was not carried out.`,
    );
  }
}

/** No usable answer came in `limits.attempts` rounds. */
export class AnswerInvalid extends ParleyError {
  readonly code = 'answer_invalid';
  constructor(
    readonly key: string,
    readonly attempts: number,
    readonly reason: string,
  ) {
    super(`The question '${key}' got no usable answer in ${attempts} attempts. Last fault: ${reason}`);
  }
}

/** A question reads differently in every round, so no answer can ever belong to it. */
export class QuestionUnstable extends ParleyError {
  readonly code = 'question_unstable';
  constructor(
    readonly key: string,
    readonly rounds: number,
  ) {
    super(
      `The question '${key}' read differently in each of ${rounds} rounds, so no answer can be matched to it. ` +
        `Take what changes (a time, a random value, a fetched number) from flow.now(), flow.random() or a step.`,
    );
  }
}

/** More questions in one round than `limits.questions`. */
export class TooManyQuestions extends ParleyError {
  readonly code = 'too_many_questions';
  constructor(
    readonly asked: number,
    readonly limit: number,
  ) {
    super(`${asked} questions are pending in one round; the limit is ${limit} (limits.questions).`);
  }
}

/** The flow needs more rounds than `limits.rounds`, or more that only wait than `limits.waits`. */
export class TooManyRounds extends ParleyError {
  readonly code = 'too_many_rounds';
  constructor(
    readonly bound: 'rounds' | 'waits',
    readonly limit: number,
  ) {
    super(
      bound === 'rounds'
        ? `This flow did not end within ${limit} rounds (limits.rounds).`
        : `What this flow waits for did not come within ${limit} rounds of waiting (limits.waits).`,
    );
  }
}

/** The sealed state would be larger than `limits.stateBytes`. */
export class StateTooLarge extends ParleyError {
  readonly code = 'state_too_large';
  constructor(
    readonly bytes: number,
    readonly limit: number,
    readonly largest: readonly { readonly key: string; readonly bytes: number }[],
  ) {
    super(
      `The state of this flow would take ${bytes} bytes; the limit is ${limit} (limits.stateBytes). ` +
        `Largest entries: ${largest.map((entry) => `'${entry.key}' ${entry.bytes}`).join(', ')}. ` +
        `Record less in a step: an id instead of the thing itself.`,
    );
  }
}

/** A step, or a wait's check, threw. The same error, with the same message, is thrown again on replay (then without `cause`). */
export class StepFailed extends ParleyError {
  readonly code = 'step_failed';
  constructor(
    readonly key: string,
    /** Name of the error that the step threw, for example `TypeError`. */
    readonly reasonName: string,
    /** Message of the error that the step threw, cut at 1,000 characters. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`Step '${key}' failed: ${reason}`, options);
  }
}

/** The result of a step, or of a wait's check, is not JSON. Recorded, and thrown again on replay. */
export class NotJson extends ParleyError {
  readonly code = 'not_json';
  constructor(
    readonly key: string,
    readonly path: string,
    readonly found: string,
  ) {
    super(`The result of step '${key}' cannot be recorded: ${found} at ${path}. Results are JSON values.`);
  }
}

/** A flow was called in the synchronous part of one of its own steps. What the step throws for it is a `StepFailed` with this as its `cause`. */
export class NestedCall extends ParleyError {
  readonly code = 'nested_call';
  constructor(
    readonly step: string,
    readonly call: string,
  ) {
    super(
      `flow.${call} was called inside step '${step}'. Ask and record outside of steps, one after another.`,
    );
  }
}

/** A value has no canonical JSON form: a lone surrogate, a non-finite number, or nesting that is too deep. */
export class Uncanonical extends ParleyError {
  readonly code = 'uncanonical';
}

/** Why a state was not accepted. Goes to the `rejected` event and the log, never to the wire. */
export type RejectionReason =
  | 'not_a_string'
  | 'too_long'
  | 'malformed'
  | 'unknown_key'
  | 'commitment'
  | 'authentication'
  | 'claims'
  | 'expired'
  | 'deadline'
  | 'principal'
  | 'request'
  | 'kind'
  | 'version'
  | 'replayed'
  | 'journal';

/**
 * Work for `flow.once` was begun and never settled: its process died, or its store could not be told. Whether it
 * took effect is not known, so it is not done again. Look at the thing itself, and decide.
 */
export class OutcomeUnknown extends ParleyError {
  readonly code = 'outcome_unknown';
  constructor(readonly key: string) {
    super(
      `Whether '${key}' was done is not known: it was begun, and its end was never recorded. It is not done again.`,
    );
  }
}

/** The ledger gave no answer in time. Nothing that depends on it was run. */
export class LedgerUnavailable extends ParleyError {
  readonly code = 'ledger_unavailable';
  constructor(
    readonly operation: string,
    options?: ErrorOptions,
  ) {
    super(`The ledger gave no answer in time (${operation}).`, options);
  }
}

/** A memory ledger holds as much as it may, and nothing of it has expired. */
export class LedgerFull extends ParleyError {
  readonly code = 'ledger_full';
  constructor(readonly limit: number) {
    super(
      `The memory ledger is full (at most ${limit} records; maxRecords, maxCharacters) and nothing has expired.`,
    );
  }
}

/** The same round, or the same work, is still under way elsewhere. */
export class RoundBusy extends ParleyError {
  readonly code = 'round_busy';
  constructor() {
    super('The same request is still being worked on. Send it again.');
  }
}

/** A `requestState` was not accepted. The client is told only that, in the same words for every reason. */
export class StateRejected extends ParleyError {
  readonly code = 'state_rejected';
  constructor(
    readonly reason: RejectionReason,
    options?: ErrorOptions,
  ) {
    super(`requestState rejected: ${reason}`, options);
  }
}

/** All errors of this library, for exhaustive handling. */
export type AnyParleyError =
  | AnswerInvalid
  | ConfigurationError
  | FlowDiverged
  | InputRefused
  | InvalidKey
  | InvalidQuestion
  | KeyReused
  | LedgerFull
  | LedgerUnavailable
  | NestedCall
  | NotJson
  | OutcomeUnknown
  | QuestionUnstable
  | RoundBusy
  | StateRejected
  | StateTooLarge
  | StepFailed
  | TooManyQuestions
  | TooManyRounds
  | Uncanonical;
