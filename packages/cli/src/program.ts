import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { keygen, type KeygenIo } from './commands/keygen.js';

/** What the command line needs of its surroundings. */
export interface CliIo extends KeygenIo {
  /** Version of this package. */
  readonly version: string;
}

/** Exit codes: 0 done, 1 failed, 2 called in a wrong way. */
export type ExitCode = 0 | 1 | 2;

const MAX_COUNT = 1000;

/**
 * Runs the command line.
 *
 * @param args the arguments after the program's name
 * @returns the exit code; it never throws, and never ends the process.
 */
export function run(args: readonly string[], io: CliIo): ExitCode {
  try {
    program(io).parse([...args], { from: 'user' });
    return 0;
  } catch (error) {
    // commander has printed its own errors already; help and version end in one too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    io.err(`parley: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

function program(io: CliIo): Command {
  const parley = new Command('parley')
    .description('Keys for the sealed state of MCP flows.')
    .version(io.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError('Run `parley --help` for the commands and examples.')
    .exitOverride()
    .addHelpText('after', '\nExamples:\n  $ export PARLEY_KEYS="$(parley keygen)"\n  $ parley help keygen');

  parley
    .command('keygen')
    .description('print a new key, made of 32 random bytes')
    .option('-n, --count <n>', `how many keys to print, one a line (1 to ${MAX_COUNT})`, parseCount, 1)
    .addHelpText(
      'after',
      '\nExamples:\n  $ parley keygen\n  $ export PARLEY_KEYS="$(parley keygen)"\n  $ parley keygen --count 2',
    )
    .action((options: { count: number }) => {
      keygen(options, io);
    });

  return parley;
}

function parseCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_COUNT) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_COUNT}.`);
  }
  return count;
}
