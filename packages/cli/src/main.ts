#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { generateKey } from 'mcp-parley';
import { ledgerSql } from 'mcp-parley/ledger/postgres';
import { tasksSql } from 'mcp-parley/tasks/postgres';
import { makeConsoleHarmless } from './harmless-console.js';
import { loadPostgres, loadTaskTools } from './load-postgres.js';
import { describeOwnFault } from './own-fault.js';
import { EXIT, EXIT_BY_SIGNAL, type StopSignal } from './outcome.js';
import { run } from './program.js';
import { loadServerModule } from './server-module.js';
import { startWorker } from './start-worker.js';
import { openUrl } from './terminal/index.js';
import { readText } from './text-input.js';

/** How long the process may stay when everything is done, in ms. A program's own children may hold its pipes. */
const LINGER_MS = 1000;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const { env, stdin, stdout, stderr } = process;
const args = process.argv.slice(2);
const end = args.indexOf('--');

// Everything that draws heeds it, libraries too.
if (args.slice(0, end === -1 ? undefined : end).includes('--no-color')) env['NO_COLOR'] = '1';

// Whoever read the output has left, and wants no more of it.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = EXIT.failed;
  stderr.write(`parley: stdout cannot be written (${error.code})\n`);
});
stderr.on('error', () => undefined);

process.on('uncaughtException', (error) => {
  stderr.write(describeOwnFault(error));
  process.exit(EXIT.failed);
});

const err = (message: string): void => void stderr.write(message);
makeConsoleHarmless(err);

// The code is set and not exited with, so that what stands in a pipe is still written.
process.exitCode = await run(args, {
  version,
  generateKey,
  ledgerSql,
  loadPostgres,
  tasksSql,
  loadTaskTools,
  loadServerModule,
  startWorker,
  env,
  out: (message) => void stdout.write(message),
  err,
  isTerminal: stdout.isTTY,
  ...(stdin.isTTY && stderr.isTTY && { terminal: { input: stdin, output: stderr, openUrl } }),
  ...(stderr.isTTY && { screen: stderr }),
  readStdin: () => readText(stdin, 'stdin'),
  onStop,
});
setTimeout(() => {
  if (stdout.writableLength === 0) process.exit();
}, LINGER_MS).unref();

/** The first signal asks to stop, the second one does not ask. */
function onStop(listener: (signal: StopSignal) => void): () => void {
  const signals: readonly StopSignal[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];
  let isAsked = false;
  const heed = (signal: NodeJS.Signals): void => {
    const name = signals.find((each) => each === signal) ?? 'SIGTERM';
    if (isAsked) process.exit(EXIT_BY_SIGNAL[name]);
    isAsked = true;
    listener(name);
  };
  for (const signal of signals) process.on(signal, heed);
  return () => {
    for (const signal of signals) process.off(signal, heed);
  };
}
