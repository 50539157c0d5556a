import { InvalidArgumentError, type Command } from 'commander';

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

const MAX_COUNT = 1000;

/** Adds `parley keygen`. */
export function addKeygen(parley: Command, io: KeygenIo): void {
  parley
    .command('keygen')
    .description('print a new key, made of 32 random bytes')
    .option('-n, --count <n>', `how many keys to print, one a line (1 to ${MAX_COUNT})`, parseCount, 1)
    .addHelpText(
      'after',
      '\nExamples:\n  $ parley keygen\n  $ export PARLEY_KEYS="$(parley keygen)"\n  $ parley keygen --count 2',
    )
    .action((options: KeygenOptions) => {
      keygen(options, io);
    });
}

function parseCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_COUNT) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_COUNT}.`);
  }
  return count;
}
