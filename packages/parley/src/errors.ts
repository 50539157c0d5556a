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

import { quoteName, quoteNames } from './quote-name.js';

/** The stable codes, one for each situation that a program may want to tell apart. */
export type ParleyErrorCode =
  | 'answer_invalid'
  | 'answer_refused'
  | 'call_stopped'
  | 'configuration'
  | 'connection_busy'
  | 'drive_limit'
  | 'flow_diverged'
  | 'flow_not_saved'
  | 'going_nowhere'
  | 'input_refused'
  | 'invalid_key'
  | 'invalid_question'
  | 'invalid_response'
  | 'key_reused'
  | 'ledger_full'
  | 'ledger_unavailable'
  | 'nested_call'
  | 'not_json'
  | 'outcome_unknown'
  | 'question_unstable'
  | 'request_state_refused'
  | 'retry_not_taken'
  | 'retry_unknown'
  | 'round_busy'
  | 'saved_flow_foreign'
  | 'saved_flow_invalid'
  | 'saved_flow_outdated'
  | 'server_not_allowed'
  | 'state_rejected'
  | 'state_too_large'
  | 'step_failed'
  | 'task_cancelled'
  | 'task_gone'
  | 'task_limit'
  | 'task_unreachable'
  | 'too_many_questions'
  | 'too_many_rounds'
  | 'unanswered'
  | 'uncanonical'
  | 'unsafe_url';

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

/** A store of tasks holds as many as it may, or one task asked as many questions as it may in its life. */
export class TaskLimit extends ParleyError {
  readonly code = 'task_limit';
  constructor(
    readonly bound: 'tasks' | 'questions',
    readonly limit: number,
  ) {
    super(
      bound === 'tasks'
        ? `There are as many tasks as this server may hold (at most ${limit}; maxTasks), and none has expired.`
        : `This task has asked ${limit} questions, as many as one task may.`,
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

/** Beside the errors and not in them: who looks through an error, hidden members and getters too, finds no flow. */
const flows = new WeakMap<object, object>();

/** The saved flow that goes with an error, if one does. For `mcp-parley/client`, which gives it a type. */
export function flowBeside(error: unknown): object | undefined {
  return error instanceof DriveError ? flows.get(error) : undefined;
}

/**
 * A call that is driven for a client (`mcp-parley/client`) did not come to its end. The saved flow that goes with it
 * holds the server's state, which must not reach a log: it is no part of the error, and `flowOf(error)` of
 * `mcp-parley/client` gives it to those who ask for it.
 */
export abstract class DriveError extends ParleyError {
  constructor(message: string, flow?: object, options?: ErrorOptions) {
    super(message, options);
    if (flow !== undefined) flows.set(this, flow);
  }

  /** What may be logged. */
  toJSON(): { readonly name: string; readonly code: ParleyErrorCode; readonly message: string } {
    return { name: this.name, code: this.code, message: this.message };
  }
}

/**
 * A retry was sent, and no answer to it came. Whether the server acted on it is not known, so it is not sent again.
 * There is no flow where calls cannot be saved: then an answer was given, and the call never came to its end.
 */
export class RetryUnknown extends DriveError {
  readonly code = 'retry_unknown';
  constructor(
    readonly round: number,
    flow: object | undefined,
    options?: ErrorOptions,
  ) {
    super(
      `Round ${round} was sent and not answered, so whether it took effect is not known. It is not sent again. ` +
        (flow === undefined
          ? 'Look at the thing itself before the call is made again.'
          : `Look at the thing itself; then resume the saved flow with 'resend: true', or drop it.`),
      flow,
      options,
    );
  }
}

/**
 * A retry is known not to have been taken up: no connection came about, the sign-in failed, or the server turned it
 * away before anything ran. `cause` says why. The flow is as it was before, and can be resumed.
 */
export class RetryNotTaken extends DriveError {
  readonly code = 'retry_not_taken';
  constructor(
    readonly round: number,
    flow: object,
    options?: ErrorOptions,
  ) {
    super(
      `Round ${round} was not taken up by the server, and nothing was done for it (see its cause). ` +
        `Resume the saved flow once that is mended.`,
      flow,
      options,
    );
  }
}

/**
 * The store failed (`cause`), so the call was not gone on with. The flow is newer than what is stored; of a call that
 * had not begun there is none.
 */
export class FlowNotSaved extends DriveError {
  readonly code = 'flow_not_saved';
  constructor(
    /** The last round that was answered. 0 when nothing was sent yet. */
    readonly round: number,
    flow?: object,
    options?: ErrorOptions,
  ) {
    super(
      round === 0
        ? 'The call cannot be saved (see its cause), so it was not begun.'
        : `The call could not be saved after round ${round} (see its cause), so it was not gone on with. ` +
            'The flow on this error is the latest: keep it, and resume it.',
      flow,
      options,
    );
  }
}

/** The server does not take the state that it gave (too old, sealed for somebody else, a lost key). Start over. */
export class RequestStateRefused extends DriveError {
  readonly code = 'request_state_refused';
  constructor(
    readonly round: number,
    options?: ErrorOptions,
  ) {
    super(
      `The server refused its own requestState in round ${round}. Begin the call again if that is safe.`,
      undefined,
      options,
    );
  }
}

/** The same questions came again and again, whatever was answered. */
export class GoingNowhere extends DriveError {
  readonly code = 'going_nowhere';
  constructor(
    readonly keys: readonly string[],
    readonly times: number,
    flow?: object,
  ) {
    super(
      keys.length === 0
        ? `The server wanted answers ${times} times in a row, and asked nothing.`
        : `The server asked the same ${times} times in a row: ${quoteNames(keys)}.`,
      flow,
    );
  }
}

/** A bound of the client's policy, or the time-out of a request, was reached. */
export class DriveLimit extends DriveError {
  readonly code = 'drive_limit';
  constructor(
    readonly bound:
      'deadlineMs' | 'maxQuestions' | 'maxRounds' | 'stateOnly.rounds' | 'task.maxWaitMs' | 'timeout',
    readonly limit: number,
    flow?: object,
    options?: ErrorOptions,
  ) {
    super(`The call was given up at its bound '${bound}' (${limit}).`, flow, options);
  }
}

/**
 * The call was stopped on this side, and no retry was left without an answer. Of one that had become a task, the
 * error carries the flow when the task was left running, and none when the server took the cancellation.
 */
export class CallStopped extends DriveError {
  readonly code = 'call_stopped';
  constructor(
    readonly by: 'signal' | 'beforeRetry',
    flow?: object,
    options?: ErrorOptions,
  ) {
    super(
      by === 'signal' ? 'The call was cancelled.' : 'The call was stopped before a retry (beforeRetry).',
      flow,
      options,
    );
  }
}

/**
 * The server answered what the protocol, or what was declared to it, does not allow. There is a flow where that was
 * about a task, which may still be running.
 */
export class InvalidResponse extends DriveError {
  readonly code = 'invalid_response';
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
    flow?: object,
  ) {
    super(`The server's response cannot be used: ${reason}.`, flow, options);
  }
}

/** The server asked to open a URL that must not be opened (not https, or not a URL for a browser). */
export class UnsafeUrl extends DriveError {
  readonly code = 'unsafe_url';
  constructor(
    readonly key: string,
    flow?: object,
  ) {
    super(`The question ${quoteName(key)} asks to open a URL that must not be opened.`, flow);
  }
}

/** An answer does not fit its question, so it was not sent. Names the field, never the value. */
export class AnswerRefused extends DriveError {
  readonly code = 'answer_refused';
  constructor(
    readonly key: string,
    readonly reason: string,
    flow?: object,
  ) {
    super(`The answer to ${quoteName(key)} was not sent: ${reason}`, flow);
  }
}

/** A question got no answer that can be sent: its handler failed, or refused what the protocol cannot refuse. */
export class Unanswered extends DriveError {
  readonly code = 'unanswered';
  constructor(
    readonly key: string,
    flow?: object,
    options?: ErrorOptions,
  ) {
    super(`The question ${quoteName(key)} was not answered, so the call was not continued.`, flow, options);
  }
}

/** The task that the call had become was cancelled, on the server's side or by somebody else (`cancelled`). */
export class TaskCancelled extends DriveError {
  readonly code = 'task_cancelled';
  constructor() {
    super('The task was cancelled, and not by this call.');
  }
}

/** The server does not know the task (any more), so how it ended is not known either. */
export class TaskGone extends DriveError {
  readonly code = 'task_gone';
  constructor(
    /** `expired` when the time was over that the server gave the task, else `unknown`. */
    readonly reason: 'expired' | 'unknown',
    options?: ErrorOptions,
  ) {
    super(
      reason === 'expired'
        ? 'The server dropped the task: its time (ttlMs) is over. What it did is not known.'
        : 'The server does not know the task. What it did is not known.',
      undefined,
      options,
    );
  }
}

/** The server could not be asked about the task so many times in a row. It may still be running. */
export class TaskUnreachable extends DriveError {
  readonly code = 'task_unreachable';
  constructor(
    readonly attempts: number,
    flow: object,
    options?: ErrorOptions,
  ) {
    super(
      `The server could not be reached ${attempts} times in a row. The task may still be running: ` +
        `resume the saved flow to go on with it.`,
      flow,
      options,
    );
  }
}

/**
 * A call on this connection of 2025-11-25 ended on this side and not on the server's, which may ask for it yet. What
 * it asks cannot be told from what another call is asked, so nothing more is driven until its response has come.
 */
export class ConnectionBusy extends DriveError {
  readonly code = 'connection_busy';
  constructor() {
    super(
      'The server has not answered an earlier call on this connection, and may ask for it yet. ' +
        'Nothing was sent. Connect anew, and call again.',
    );
  }
}

/** Text or an object that is no saved flow of a version that this build reads. */
export class SavedFlowInvalid extends ParleyError {
  readonly code = 'saved_flow_invalid';
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(`This is not a saved flow that can be resumed: ${path} ${reason}.`);
  }
}

/** A saved flow belongs to another server, or to somebody else. */
export class SavedFlowForeign extends ParleyError {
  readonly code = 'saved_flow_foreign';
  constructor(readonly differs: 'server' | 'principal') {
    super(`This saved flow belongs to another ${differs}; it is not sent to this one.`);
  }
}

/**
 * A store holds something else than what this process took up: somebody else went on with the call, it has ended, or
 * another call was put there. Stores throw it, too, instead of writing over what they did not expect.
 */
export class SavedFlowOutdated extends ParleyError {
  readonly code = 'saved_flow_outdated';
  constructor(
    /** What the store holds instead: nothing, another revision of the call, or another call. */
    readonly found: 'nothing' | 'another revision' | 'another call',
  ) {
    super(
      {
        nothing:
          'The store does not hold this call: it has ended, or was taken away. It is not gone on with here. ' +
          'To go on from a copy all the same, save the copy in the store first.',
        'another revision':
          'Somebody else has gone on with this call. It is not gone on with here: load it anew.',
        'another call': 'The store holds another call, which is left as it is.',
      }[found],
    );
  }
}

/** The policy does not let this server be driven. */
export class ServerNotAllowed extends ParleyError {
  readonly code = 'server_not_allowed';
  constructor() {
    super('This server is not among those that may be driven (policy.servers).');
  }
}

/** All errors of this library, for exhaustive handling. */
export type AnyParleyError =
  | AnswerInvalid
  | AnswerRefused
  | CallStopped
  | ConfigurationError
  | ConnectionBusy
  | DriveLimit
  | FlowDiverged
  | FlowNotSaved
  | GoingNowhere
  | InputRefused
  | InvalidKey
  | InvalidQuestion
  | InvalidResponse
  | KeyReused
  | LedgerFull
  | LedgerUnavailable
  | NestedCall
  | NotJson
  | OutcomeUnknown
  | QuestionUnstable
  | RequestStateRefused
  | RetryNotTaken
  | RetryUnknown
  | RoundBusy
  | SavedFlowForeign
  | SavedFlowInvalid
  | SavedFlowOutdated
  | ServerNotAllowed
  | StateRejected
  | StateTooLarge
  | StepFailed
  | TaskCancelled
  | TaskGone
  | TaskLimit
  | TaskUnreachable
  | TooManyQuestions
  | TooManyRounds
  | Unanswered
  | Uncanonical
  | UnsafeUrl;
