import type { CallToolResult } from '@modelcontextprotocol/client';
import type { DriveOptions, DrivenMethod, DrivenResult, FlowStore } from 'mcp-parley/client';
import type { AnswersFile } from './answers-file.js';
import { handlersFor } from './ask.js';
import type { CallIo } from './call-io.js';
import type { Connection } from './connect/connection.js';
import { explainCall, type CallContext } from './explain-call.js';
import { Ended, EXIT } from './outcome.js';
import { harmlessJson } from './output/json.js';
import { MediaFolder } from './output/media.js';
import { resultText, type OutputFormat } from './output/result.js';

/** How a call is answered, how far it may go, and how its result is printed. */
export interface CallSettings {
  /** How long one request may take, in ms. */
  readonly timeout: number;
  /** Path of a file with answers. */
  readonly answers?: string;
  /** How long the whole call may take, in ms. */
  readonly deadline?: number;
  readonly maxRounds?: number;
  readonly output: OutputFormat;
  /** Folder for what is no text. */
  readonly mediaDir?: string;
  readonly quiet?: boolean;
}

/** Where a call is saved. */
export interface Saving {
  readonly store: FlowStore;
  readonly path: string;
  /** The round from which on questions are left for later. None are by default. */
  readonly leaveFrom?: number;
  /** The command line that goes on with it. */
  readonly resumeWith: (...options: readonly string[]) => string;
}

/** A call to be driven. */
export interface Call {
  readonly method: DrivenMethod;
  readonly settings: CallSettings;
  readonly answers: AnswersFile | undefined;
  readonly saving?: Saving;
  /** Begins it, or goes on with it. */
  readonly start: (options: DriveOptions) => Promise<DrivenResult>;
}

/**
 * Drives a call to its end and prints its result to stdout.
 *
 * @throws Ended when it did not come to a good end, a tool's own error among those.
 */
export async function runCall(connection: Connection, call: Call, io: CallIo): Promise<void> {
  const { method, settings, answers } = call;
  const { status } = connection;
  let result: DrivenResult;
  try {
    result = await call.start(driveOptions(connection, call, io));
  } catch (error) {
    const ended = explainCall(error, await contextOf(connection, call));
    status.done();
    if (ended.exitCode === EXIT.waiting) tellLeftovers(answers, io);
    throw ended === error ? ended : new Ended(ended.exitCode, ended.message, { cause: error });
  }
  status.done();
  await print(method, result, settings, io);
  tellLeftovers(answers, io);
  if (method === 'tools/call' && (result as CallToolResult).isError === true) {
    throw new Ended(EXIT.toolError, 'The tool reports an error.');
  }
}

function driveOptions(
  { identity, name, signal, status }: Connection,
  { settings, answers, saving }: Call,
  io: CallIo,
): DriveOptions {
  const { deadline, maxRounds, timeout, quiet = false } = settings;
  return {
    server: identity,
    handlers: handlersFor({
      serverName: name,
      status,
      isQuiet: quiet,
      ...(answers !== undefined && { answers }),
      ...(saving?.leaveFrom !== undefined && { leaveFrom: saving.leaveFrom }),
      ...(io.terminal !== undefined && { terminal: io.terminal }),
    }),
    policy: {
      ...(deadline !== undefined && { deadlineMs: deadline }),
      ...(maxRounds !== undefined && { maxRounds }),
      // A task that somebody may come back to is let run.
      task: { whenStopped: saving === undefined ? 'cancel' : 'leave' },
    },
    ...(saving !== undefined && { store: saving.store }),
    onProgress: ({ type, round }) => (type === 'round' ? status.round(round) : undefined),
    onTask: ({ statusMessage }) => status.server(statusMessage),
    signal,
    request: { timeout },
  };
}

async function print(
  method: DrivenMethod,
  result: DrivenResult,
  { output, mediaDir }: CallSettings,
  io: CallIo,
): Promise<void> {
  if (output === 'json') io.out(`${harmlessJson(result)}\n`);
  else {
    const media = new MediaFolder(mediaDir);
    io.out(await resultText(method, result, media));
    if (media.fault !== undefined) throw media.fault;
  }
}

async function contextOf(connection: Connection, { answers, saving }: Call): Promise<CallContext> {
  if (saving === undefined) return { connection, ...(answers !== undefined && { answers }) };
  const { path, resumeWith, store } = saving;
  // What cannot be read is not there for the person either.
  const flow = await store.load().catch(() => undefined);
  return {
    connection,
    ...(answers !== undefined && { answers }),
    saved: { path, resumeWith, ...(flow !== undefined && { flow }) },
  };
}

function tellLeftovers(answers: AnswersFile | undefined, io: CallIo): void {
  for (const line of answers?.leftovers() ?? []) io.err(`Warning: ${line}\n`);
}
