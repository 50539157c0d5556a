/** What `parley` exits with. */
export const EXIT = {
  /** It did what it was asked to do. */
  done: 0,
  /** No connection, an error that the server answered, a response that cannot be used, a bound that was reached. */
  failed: 1,
  /** Called in a wrong way. Nothing was called on a server. */
  wrongUse: 2,
  /** The tool itself reported an error (`isError`). */
  toolError: 3,
  /** A question has no answer that can be sent, or the call was saved and waits for one. */
  waiting: 4,
  /** Whether it took effect is not known: a retry was sent and not answered, or its task is out of sight. */
  unknown: 5,
  /** Signals, as shells count them: 128 and the number of the signal. */
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** One of them. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command did not come to a good end: what to exit with, and what to say on stderr. */
export class Ended extends Error {
  override readonly name: string = 'Ended';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The command was called in a wrong way: nothing was tried. */
export class WrongUse extends Ended {
  override readonly name = 'WrongUse';

  constructor(message: string, options?: ErrorOptions) {
    super(EXIT.wrongUse, message, options);
  }
}

/** Signals that ask the command to stop. */
export type StopSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

/** What a signal makes the command exit with. */
export const EXIT_BY_SIGNAL: Readonly<Record<StopSignal, ExitCode>> = {
  SIGHUP: EXIT.hungUp,
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
};

/** The reason with which everything under way is aborted when a signal comes. */
export class Signalled extends Error {
  override readonly name = 'Signalled';

  constructor(readonly signal: StopSignal) {
    super(signal === 'SIGINT' ? 'Stopped by Ctrl-C.' : `Stopped by ${signal}.`);
  }
}
