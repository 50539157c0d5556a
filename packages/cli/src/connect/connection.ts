import { Client } from '@modelcontextprotocol/client';
import type { ServerIdentity } from 'mcp-parley/client';
import type { CallIo } from '../call-io.js';
import { Ended, EXIT, EXIT_BY_SIGNAL, Signalled } from '../outcome.js';
import { StatusLine } from '../status-line.js';
import { progress } from '../terminal/index.js';
import { detailsOf, reasonOf } from './failure.js';
import { readHeaders, withoutSecrets, type HeaderOptions } from './headers.js';
import { identityOf, nameOf, type Target } from './target.js';
import { leave, wayTo, type Way } from './transport.js';

/** How to connect. */
export interface ConnectOptions extends HeaderOptions {
  /** A label for who is signed in; saved calls are bound to it. */
  readonly principal?: string;
  /** How long one request may take, in ms. */
  readonly timeout: number;
  /** Whether everything that helps to find a fault is shown. */
  readonly verbose?: boolean;
  /** Whether nothing is shown that nobody needs. */
  readonly quiet?: boolean;
}

/** A server that answers. */
export interface Connection {
  readonly client: Client;
  readonly target: Target;
  /** What saved calls are bound to. */
  readonly identity: ServerIdentity;
  /** The server's name before people. */
  readonly name: string;
  /** Aborts when the command should stop, with `Signalled` for a reason. */
  readonly signal: AbortSignal;
  /** For requests beside those of a call. */
  readonly request: { readonly signal: AbortSignal; readonly timeout: number };
  /** stderr, as long as the connection is there. `done` comes before anything is written to stdout. */
  readonly status: StatusLine;
  /** Why something on this connection failed, and what to do. */
  readonly reasonOf: (error: unknown) => string;
}

/**
 * Connects, runs, and disconnects, whatever happens. A program is ended with it.
 *
 * @throws WrongUse for headers that cannot be sent; Ended for everything else, with no secret in its message.
 */
export async function withConnection(
  target: Target,
  options: ConnectOptions,
  io: CallIo,
  use: (connection: Connection) => Promise<void>,
): Promise<void> {
  const { timeout, principal, verbose = false, quiet = false } = options;
  const headers = readHeaders(options, target, io.env);
  const name = nameOf(target);
  const status = new StatusLine(
    io.err,
    io.screen === undefined || quiet ? undefined : progress(io.screen, name),
  );
  const way = wayTo(target, headers, io.env, verbose ? (text) => status.write(text) : undefined);
  const stop = new AbortController();
  const { signal } = stop;
  const ignoreSignals = io.onStop((each) => stop.abort(new Signalled(each)));
  const client = new Client(
    { name: 'parley', version: io.version },
    {
      versionNegotiation: { mode: 'auto' },
      capabilities: { elicitation: { form: {}, url: {} } },
      inputRequired: { autoFulfill: false },
    },
  );
  const context = { target, timeout, secrets: headers.secrets, isConnected: false };
  const connection: Connection = {
    client,
    target,
    identity: identityOf(target, principal),
    name,
    signal,
    request: { signal, timeout },
    status,
    reasonOf: (error) => reasonOf(error, context),
  };
  try {
    await connect(client, way, connection.request);
    context.isConnected = true;
    await use(connection);
  } catch (error) {
    const ended = explain(error, connection, context.isConnected ? '' : 'No connection to ');
    // What a program wrote last is read to its end first.
    await new Promise(setImmediate);
    const notes = [
      ended.message,
      ...(verbose ? detailsOf(error, context) : programNote(ended, way.lastLines())),
    ];
    throw new Ended(ended.exitCode, withoutSecrets(notes.join('\n'), headers.secrets), { cause: error });
  } finally {
    status.done();
    ignoreSignals();
    await leave(way);
  }
}

async function connect(client: Client, { transport }: Way, request: Connection['request']): Promise<void> {
  const { signal } = request;
  // The probe for the server's revision does not listen to a signal.
  const close = (): void => void transport.close().catch(() => undefined);
  signal.addEventListener('abort', close);
  try {
    await client.connect(transport, request);
  } finally {
    signal.removeEventListener('abort', close);
  }
}

function explain(error: unknown, { name, signal, reasonOf }: Connection, at: string): Ended {
  if (error instanceof Ended) return error;
  const reason: unknown = signal.reason;
  if (reason instanceof Signalled) return new Ended(EXIT_BY_SIGNAL[reason.signal], reason.message);
  return new Ended(EXIT.failed, `${at}${name}: ${reasonOf(error)}`);
}

function programNote({ exitCode }: Ended, lines: string): string[] {
  const isFailure = exitCode === EXIT.failed || exitCode === EXIT.unknown;
  return isFailure && lines !== '' ? [`The program wrote last:\n${lines.replaceAll(/^/gm, '  ')}`] : [];
}
