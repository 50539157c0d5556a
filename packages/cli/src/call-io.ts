import type { StopSignal } from './outcome.js';
import type { Terminal } from './terminal/index.js';

/** What the commands that talk to a server need of their surroundings. */
export interface CallIo {
  /** Version of this package. */
  readonly version: string;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to stdout: results, and nothing else. */
  readonly out: (text: string) => void;
  /** Writes to stderr: everything else. */
  readonly err: (text: string) => void;
  /** Whether a person reads stdout. */
  readonly isTerminal: boolean;
  /** The person, if there is one at stdin and stderr. Nobody is asked otherwise. */
  readonly terminal?: Terminal;
  /** stderr, if a person looks at it: signs of life go there. */
  readonly screen?: NodeJS.WriteStream;
  /** All of stdin, as UTF-8. */
  readonly readStdin: () => Promise<string>;
  /** Calls back when the command should stop; gives back what ends that. */
  readonly onStop: (listener: (signal: StopSignal) => void) => () => void;
}
