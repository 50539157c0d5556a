import { Command, CommanderError } from 'commander';
import type { CallIo } from './call-io.js';
import { takeServerCommand } from './command-line.js';
import { addAudit } from './commands/audit.js';
import { addCall } from './commands/call.js';
import { addInspect, type InspectIo } from './commands/inspect.js';
import { addKeygen, type KeygenIo } from './commands/keygen.js';
import { addLedgerMigrate, type LedgerMigrateIo } from './commands/ledger-migrate.js';
import { addPrompt } from './commands/prompt.js';
import { addRead } from './commands/read.js';
import { addResume } from './commands/resume.js';
import { addTasksMigrate, type TasksMigrateIo } from './commands/tasks-migrate.js';
import { addTools } from './commands/tools.js';
import { addWorker, type WorkerIo } from './commands/worker.js';
import { hideSecrets } from './hide-secrets.js';
import { Ended, EXIT, type ExitCode } from './outcome.js';
import { harmless } from './safe-text.js';

/** What the command line needs of its surroundings. */
export type CliIo = KeygenIo & LedgerMigrateIo & TasksMigrateIo & WorkerIo & CallIo & InspectIo;

/**
 * Runs the command line.
 *
 * @param args the arguments after the program's name
 * @returns the exit code; it never rejects, and never ends the process.
 */
export async function run(args: readonly string[], io: CliIo): Promise<ExitCode> {
  try {
    const parley = program(io);
    await parley.parseAsync(takeServerCommand(parley, args), { from: 'user' });
    return EXIT.done;
  } catch (error) {
    // commander has printed its own errors already; help and version end in one too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUse;
    io.err(`parley: ${harmless(reasonOf(error))}\n`);
    return error instanceof Ended ? error.exitCode : EXIT.failed;
  }
}

function program(io: CliIo): Command {
  const parley = new Command('parley')
    .description(
      'Calls that ask in the middle, on MCP servers: answered, saved and resumed. And keys and tables for servers.',
    )
    .version(io.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .option('--no-color', 'print without colours, as NO_COLOR in the environment does')
    .configureOutput({
      writeOut: io.out,
      writeErr: (text) => io.err(harmless(text)),
      outputError: (text, write) => write(hideSecrets(text)),
    })
    .showHelpAfterError('Run `parley --help` for the commands and examples.')
    .exitOverride()
    .addHelpText(
      'after',
      '\nExamples:\n  $ parley tools https://releases.example.com/mcp\n' +
        '  $ parley call https://releases.example.com/mcp deploy env=prod\n' +
        '  $ export PARLEY_KEYS="$(parley keygen)"\n  $ parley help call',
    );
  addCall(parley, io);
  addPrompt(parley, io);
  addRead(parley, io);
  addTools(parley, io);
  addResume(parley, io);
  addAudit(parley, io);
  addInspect(parley, io);
  addKeygen(parley, io);
  addLedgerMigrate(parley, io);
  addTasksMigrate(parley, io);
  addWorker(parley, io);
  return parley;
}

/** What went wrong, in words. Where a name has several addresses and none answers, each has an error of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  }
  return error instanceof Error ? error.message : String(error);
}
