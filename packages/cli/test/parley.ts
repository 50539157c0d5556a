import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { StopSignal } from '../src/outcome.js';
import { run, type CliIo } from '../src/program.js';

/** What a command did. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Surroundings that a test gives a command; the rest has no terminal, no stdin and an empty environment. */
export type Surroundings = Partial<CliIo> & { readonly stdin?: string };

/** Runs the command line in this process, with everything injected. */
export async function parley(args: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  let out = '';
  let err = '';
  const { stdin = '', ...rest } = surroundings;
  const code = await run(args, {
    version: '1.2.3',
    generateKey: () => 'parley_key_TEST',
    ledgerSql: async ({ table = 'parley_ledger' }) => `CREATE TABLE ${table};\n`,
    loadPostgres: () => Promise.reject(new Error('pg is not to be loaded')),
    tasksSql: async ({ schema = 'parley' }) => `CREATE SCHEMA ${schema};\n`,
    loadTaskTools: () => Promise.reject(new Error('pg is not to be loaded')),
    loadServerModule: () => Promise.reject(new Error('no module is to be loaded')),
    startWorker: () => Promise.reject(new Error('no worker is to be started')),
    env: {},
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    isTerminal: false,
    readStdin: async () => stdin,
    onStop: () => () => undefined,
    ...rest,
  });
  return { code, out, err };
}

const STREAM = {} as NodeJS.ReadStream & NodeJS.WriteStream;

/** A terminal at which nobody is asked. */
export const TERMINAL: CliIo['terminal'] = {
  input: STREAM,
  output: STREAM,
  openUrl: () => Promise.reject(new Error('no browser')),
};

/** A signal that a test can send, for `onStop`. */
export function stoppable(): {
  readonly onStop: CliIo['onStop'];
  readonly stop: (signal: StopSignal) => void;
} {
  const listeners = new Set<(signal: StopSignal) => void>();
  return {
    onStop: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: (signal) => {
      for (const listener of listeners) listener(signal);
    },
  };
}

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The loader for sources, by address, so that the working folder does not matter. */
export const TSX = import.meta.resolve('tsx');

/** A command in a process of its own, as people run it. */
export interface Process extends Promise<Ran> {
  readonly pid: number;
  /** Resolves when stderr holds the text. */
  saying(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Closes the reading end of its stdout. */
  hangUp(): void;
}

/** Starts the command in a process of its own. */
export function start(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string>; readonly stdin?: string } = {},
): Process {
  const child = spawn(process.execPath, ['--import', TSX, MAIN, ...args], {
    cwd: options.cwd ?? process.cwd(),
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.stdin ?? '');
  let out = '';
  let err = '';
  let heard = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    heard();
  });
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
  return Object.assign(ended, {
    pid: child.pid ?? 0,
    saying: (text: string) =>
      Promise.race([
        new Promise<void>((resolve) => {
          heard = () => {
            if (err.includes(text)) resolve();
          };
          heard();
        }),
        ended.then((ran) => {
          throw new Error(`it ended (${ran.code}) without saying so: ${ran.err}`);
        }),
      ]),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    hangUp: () => child.stdout.destroy(),
  });
}

/** A folder that is removed after the tests of a file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
