import { ProtocolError } from '@modelcontextprotocol/client';
import {
  AnswerRefused,
  CallStopped,
  DriveLimit,
  flowOf,
  GoingNowhere,
  ParleyError,
  RequestStateRefused,
  RetryNotTaken,
  RetryUnknown,
  SavedFlowForeign,
  SavedFlowInvalid,
  SavedFlowOutdated,
  TaskGone,
  TaskUnreachable,
  Unanswered,
  type Question,
  type SavedFlow,
} from 'mcp-parley/client';
import type { AnswersFile } from './answers-file.js';
import { LeftOpen } from './ask.js';
import type { Connection } from './connect/connection.js';
import { chainOf } from './connect/failure.js';
import { Ended, EXIT, EXIT_BY_SIGNAL, Signalled, type ExitCode } from './outcome.js';
import { describeQuestions } from './questions.js';
import { inQuotes } from './quoted.js';
import { harmlessLine } from './safe-text.js';
import { Interrupted } from './terminal/index.js';

/** What is known of a call that did not end well. */
export interface CallContext {
  readonly connection: Connection;
  readonly answers?: AnswersFile;
  /** Where it is saved, if it is to be saved. */
  readonly saved?: {
    readonly path: string;
    /** What the file holds now. */
    readonly flow?: SavedFlow;
    /** The command line that goes on with it, with more options. */
    readonly resumeWith: (...options: readonly string[]) => string;
  };
}

/** Said of a call whose first request was sent, and not answered. */
const DOUBT = ' Whether the server took the call up is not known.';

/** What a call ended with, as people should read it: what happened, and what to do next. */
export function explainCall(error: unknown, context: CallContext): Ended {
  const chain = chainOf(error);
  const found = <T extends Error>(type: abstract new (...args: never[]) => T): T | undefined =>
    chain.find((each): each is T => each instanceof type);
  const ended = found(Ended);
  if (ended !== undefined) return ended;
  const open = found(LeftOpen);
  if (open !== undefined) return explainOpen(open, flowOf(error)?.questions ?? [open.question], context);
  const unknown = found(RetryUnknown);
  const stop = stopOf(context.connection.signal) ?? (found(Interrupted) && EXIT.interrupted);
  if (stop !== undefined) return explainStop(stop, { error, isUnknown: unknown !== undefined }, context);
  if (unknown !== undefined) return explainUnknown(unknown, context);
  if (error instanceof AnswerRefused) {
    const from = context.answers === undefined ? '' : `${context.answers.path}: `;
    return new Ended(EXIT.waiting, `${from}${error.message}${keptNote(context)}`);
  }
  if (found(SavedFlowOutdated) !== undefined && context.saved !== undefined) {
    const shown = harmlessLine(context.saved.path);
    return new Ended(
      EXIT.failed,
      `${shown} was changed by somebody else meanwhile. The call was not gone on with.`,
    );
  }
  if (error instanceof ParleyError) return explainLocal(error, context);
  const { connection } = context;
  // An error that the server answered says what it did. After a broken connection nobody knows.
  const isAnswered = error instanceof ProtocolError;
  const note = isAnswered ? overNote(context) : DOUBT;
  return new Ended(
    EXIT.failed,
    `${connection.name}: ${connection.reasonOf(error)}${note}${keptNote(context)}`,
  );
}

/** Questions without an answer: what is asked, and how to answer. */
function explainOpen(
  { reason, question }: LeftOpen,
  asked: readonly Question[],
  context: CallContext,
): Ended {
  const { answers, saved, connection } = context;
  // They are answered in turn: what comes before was, and is not lost if the file has it.
  const first = asked.findIndex(({ key }) => key === question.key);
  const open = asked.slice(first).filter(({ key }) => key === question.key || answers?.has(key) !== true);
  const again = open.filter(({ key }) => (answers?.timesTaken(key) ?? 0) > 0);
  const lines = [`${connection.name} asks:`, describeQuestions(open), ''];
  if (answers !== undefined) {
    lines.push(`${answers.path} has no answer to ${open.length === 1 ? 'that' : 'those'}.`);
    for (const { key } of again) {
      const name = inQuotes(key);
      lines.push(`${name} was asked again, and each answer is given once: a list holds one for each time.`);
    }
  }
  if (saved?.flow !== undefined) {
    lines.push(`The call is saved in ${harmlessLine(saved.path)}. Go on with`, `  ${saved.resumeWith()}`);
  } else if (reason === 'missing')
    lines.push('Add what is missing, and call again; or keep the call with --save.');
  else {
    lines.push(
      'There is no terminal to ask at. Answer from a file (--answers answers.json), or keep the call for later ' +
        '(--save flow.json).',
    );
  }
  return new Ended(EXIT.waiting, lines.join('\n'));
}

function stopOf(signal: AbortSignal): ExitCode | undefined {
  const reason: unknown = signal.reason;
  return reason instanceof Signalled ? EXIT_BY_SIGNAL[reason.signal] : undefined;
}

function explainStop(
  exitCode: ExitCode,
  { error, isUnknown }: { readonly error: unknown; readonly isUnknown: boolean },
  context: CallContext,
): Ended {
  if (!isUnknown) {
    // Where the task was cancelled there is no flow to go on with.
    const isLeft = context.saved === undefined && flowOf(error)?.task !== undefined;
    const note = isLeft ? ' Its task could not be cancelled, and may still be running.' : '';
    return new Ended(exitCode, `Stopped.${note}${keptNote(context)}`);
  }
  return new Ended(
    exitCode,
    `Stopped, with a retry under way: whether it took effect is not known.${resendNote(context)}`,
  );
}

function explainUnknown(error: RetryUnknown, context: CallContext): Ended {
  const { connection } = context;
  const why = error.cause === undefined ? 'nobody knows what became of it' : connection.reasonOf(error.cause);
  return new Ended(
    EXIT.unknown,
    `${connection.name}: round ${error.round} was sent, and then ${why}\n` +
      `Whether it took effect is not known, and it is not sent again.${resendNote(context)}`,
  );
}

/** Bounds that have an option, by its name. */
const OPTIONS: Readonly<Partial<Record<DriveLimit['bound'], string>>> = {
  deadlineMs: '--deadline',
  maxRounds: '--max-rounds',
  timeout: '--timeout',
};

function explainLocal(error: ParleyError, context: CallContext): Ended {
  const { connection } = context;
  if (error instanceof SavedFlowForeign) {
    const which = error.differs === 'principal' ? 'Give the --principal that it was saved with.' : '';
    return new Ended(EXIT.wrongUse, `${error.message} ${which}`.trim());
  }
  if (error instanceof SavedFlowInvalid) return new Ended(EXIT.wrongUse, error.message);
  const failed = (text: string): Ended => new Ended(EXIT.failed, `${connection.name}: ${text}`);
  if (error instanceof RequestStateRefused) {
    const gone =
      context.saved === undefined
        ? ''
        : ` ${harmlessLine(context.saved.path)} is of no use any more, and was removed.`;
    return failed(
      `it does not take its own state back: the answer may have come too late.${gone} Call again if that is safe.`,
    );
  }
  if (error instanceof RetryNotTaken && error.cause !== undefined) {
    return failed(
      `${connection.reasonOf(error.cause)} Round ${error.round} was not taken up.${keptNote(context)}`,
    );
  }
  if (error instanceof DriveLimit) {
    const bound = `${OPTIONS[error.bound] ?? error.bound}: ${limitOf(error)}`;
    const doubt = error.bound === 'timeout' && flowOf(error) === undefined ? DOUBT : '';
    return failed(`the call was given up at its bound (${bound}).${doubt}${keptNote(context)}`);
  }
  if (error instanceof GoingNowhere) {
    const keys = error.keys.map(inQuotes).join(', ');
    return failed(
      `it asks the same again and again (${keys}, ${error.times} times), whatever the answer.${keptNote(context)}`,
    );
  }
  if (error instanceof TaskGone) return new Ended(EXIT.unknown, `${connection.name}: ${error.message}`);
  if (error instanceof TaskUnreachable) {
    const text = `its task could not be looked at, ${error.attempts} times in a row, and may still be running.`;
    return new Ended(EXIT.unknown, `${connection.name}: ${text}${keptNote(context)}`);
  }
  if (error instanceof Unanswered && error.cause !== undefined) {
    return failed(`${error.message} (${connection.reasonOf(error.cause)})${keptNote(context)}`);
  }
  if (error instanceof CallStopped || connection.client.transport !== undefined) return failed(error.message);
  return failed(`the connection is gone.${keptNote(context)}`);
}

function limitOf({ bound, limit }: DriveLimit): string {
  return bound === 'deadlineMs' || bound === 'timeout' ? `${limit / 1000} s` : String(limit);
}

/** What is left of the call, if it is saved. */
function keptNote({ saved }: CallContext): string {
  if (saved?.flow === undefined) return '';
  const options = saved.flow.sentAt === undefined ? [] : ['--resend'];
  return `\nThe call is kept in ${harmlessLine(saved.path)}. Go on with\n  ${saved.resumeWith(...options)}`;
}

/** Said where the call ended for good, and was to be saved. */
function overNote({ saved }: CallContext): string {
  if (saved === undefined || saved.flow !== undefined) return '';
  return `\nThe call is over, and nothing of it is kept in ${harmlessLine(saved.path)}.`;
}

function resendNote({ saved }: CallContext): string {
  return saved?.flow === undefined
    ? '\nLook at the thing itself before you call again.'
    : `\nLook at the thing itself. If it was not done, send it again with\n  ${saved.resumeWith('--resend')}\n` +
        `If it was, remove ${harmlessLine(saved.path)}.`;
}
