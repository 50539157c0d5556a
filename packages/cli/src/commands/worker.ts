import { InvalidArgumentError, type Command } from 'commander';
import type { StopSignal } from '../outcome.js';
import type { ServerModule } from '../server-module.js';

/** What `parley worker` needs of its surroundings. */
export interface WorkerIo {
  /** Writes to stderr. */
  readonly err: (text: string) => void;
  /** Calls back when the command should stop; gives back what ends that. */
  readonly onStop: (listener: (signal: StopSignal) => void) => () => void;
  /** Imports the module. */
  readonly loadServerModule: (path: string) => Promise<ServerModule>;
  /** `startWorker` of the `mcp-parley/tasks` that the module's own Parley comes from. */
  readonly startWorker: (module: ServerModule, options: { readonly concurrency: number }) => Promise<Worker>;
}

/** Runs tasks until it is stopped. */
export interface Worker {
  /** Takes no more tasks, and resolves when those under way have come to rest, or were given back. */
  readonly stop: () => Promise<void>;
}

/** Options of `parley worker`. */
export interface WorkerOptions {
  /** Path of the module, from the current folder. */
  readonly module: string;
  /** Tasks that run at a time. */
  readonly concurrency: number;
}

/**
 * Runs the tasks of a server, until a signal asks to stop.
 *
 * @throws WrongUse when the module is not there, or does not export what it must; what the module or the store throws.
 */
async function worker({ module, concurrency }: WorkerOptions, io: WorkerIo): Promise<void> {
  let stopBy: (signal: StopSignal) => void = () => undefined;
  const stopped = new Promise<StopSignal>((resolve) => (stopBy = resolve));
  const end = io.onStop((signal) => stopBy(signal));
  try {
    const running = await io.startWorker(await io.loadServerModule(module), { concurrency });
    io.err(`Ready: tasks run here, ${concurrency} at a time.\n`);
    const signal = await stopped;
    io.err(
      `${signal}: no more tasks are taken. Those under way come to rest; a second signal ends at once.\n`,
    );
    await running.stop();
  } finally {
    end();
  }
}

const DEFAULT_CONCURRENCY = 4;
const MAX_CONCURRENCY = 1000;

/** Adds `parley worker`. */
export function addWorker(parley: Command, io: WorkerIo): void {
  parley
    .command('worker')
    .description(
      'run the tasks of a server that keeps them in Postgres. Any number of workers may run, on any machine.\n' +
        "The module exports `parley`, and the server's factory by default or as `factory`. It serves nothing by itself.",
    )
    .requiredOption('--module <file>', 'the module, ESM or CommonJS')
    .option(
      '-n, --concurrency <n>',
      `how many tasks run at a time (1 to ${MAX_CONCURRENCY})`,
      parseConcurrency,
      DEFAULT_CONCURRENCY,
    )
    .addHelpText(
      'after',
      '\nSIGTERM or Ctrl-C drains: no more tasks are taken, those under way come to rest or are given back. ' +
        'A second one ends at once, and another worker goes on when the lease is over.\n' +
        '\nExamples:\n  $ parley worker --module ./server.js\n  $ parley worker --module ./dist/server.js -n 16',
    )
    .action(async (options: WorkerOptions) => {
      await worker(options, io);
    });
}

function parseConcurrency(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_CONCURRENCY) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_CONCURRENCY}.`);
  }
  return count;
}
