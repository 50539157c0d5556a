import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { keygen, type KeygenIo } from './commands/keygen.js';
import { ledgerMigrate, WrongUse, type LedgerMigrateIo } from './commands/ledger-migrate.js';

/** What the command line needs of its surroundings. */
export interface CliIo extends KeygenIo, LedgerMigrateIo {
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
 * @returns the exit code; it never rejects, and never ends the process.
 */
export async function run(args: readonly string[], io: CliIo): Promise<ExitCode> {
  try {
    await program(io).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    // commander has printed its own errors already; help and version end in one too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    io.err(`parley: ${reasonOf(error)}\n`);
    return error instanceof WrongUse ? 2 : 1;
  }
}

function program(io: CliIo): Command {
  const parley = new Command('parley')
    .description('Keys for the sealed state of MCP flows, and the table of their ledger.')
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

  parley
    .command('ledger')
    .description('the store that makes things happen at most once')
    .command('migrate')
    .description(
      'make the table of a Postgres ledger. May be run again: it changes nothing that is there.\n' +
        'The connection string is taken from the environment, never from an argument.',
    )
    .option('--url-env <name>', 'environment variable that holds the connection string', 'DATABASE_URL')
    .option('--table <name>', 'name of the table, or schema.name (default: parley_ledger)')
    .option('--print', 'write the SQL to stdout instead of running it', false)
    .addHelpText(
      'after',
      '\nExamples:\n  $ parley ledger migrate\n  $ parley ledger migrate --url-env LEDGER_URL\n' +
        '  $ parley ledger migrate --print > migrations/0042-parley-ledger.sql',
    )
    .action(async (options: { urlEnv: string; print: boolean; table?: string }) => {
      await ledgerMigrate(options, io);
    });

  return parley;
}

/** What went wrong, in words. Where a name has several addresses and none answers, each has an error of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}

function parseCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_COUNT) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_COUNT}.`);
  }
  return count;
}
