/** What `parley keygen` needs of its surroundings. */
export interface KeygenIo {
  /** Makes one key; `generateKey` of `mcp-parley`. */
  readonly generateKey: () => string;
  /** Writes to stdout. */
  readonly out: (text: string) => void;
  /** Writes to stderr. */
  readonly err: (text: string) => void;
  /** Whether a person reads stdout. */
  readonly isTerminal: boolean;
}

/** Options of `parley keygen`. */
export interface KeygenOptions {
  /** How many keys to print, at least 1. */
  readonly count: number;
}

const HINT =
  'Set it as PARLEY_KEYS, with the same value on all instances, and keep it as you keep passwords.\n';

/**
 * Prints new keys to stdout, one a line, and nothing else there: `PARLEY_KEYS="$(parley keygen)"` must work. A person
 * at a terminal is told on stderr what to do with them.
 */
export function keygen({ count }: KeygenOptions, io: KeygenIo): void {
  for (let made = 0; made < count; made += 1) io.out(`${io.generateKey()}\n`);
  if (io.isTerminal) io.err(HINT);
}
