import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallIo } from '../call-io.js';
import type { RequestHeaders } from './headers.js';
import { ProgramOutput } from './program-output.js';
import type { Target } from './target.js';

/** A way to a server. */
export interface Way {
  readonly transport: StreamableHTTPClientTransport | StdioClientTransport;
  /** The last lines that a program wrote to its stderr, harmless; `''` where there are none. */
  readonly lastLines: () => string;
}

/** How long a server may take to hear that a session is over, in ms. */
const GOODBYE_MS = 1000;

/** @param live gets what a program writes to its stderr at once, harmless */
export function wayTo(
  target: Target,
  { headers }: RequestHeaders,
  env: CallIo['env'],
  live?: (text: string) => void,
): Way {
  if (target.type === 'http') {
    const requestInit = { headers: headers.map(([name, value]): [string, string] => [name, value]) };
    const transport = new StreamableHTTPClientTransport(new URL(target.url), { requestInit });
    return { transport, lastLines: () => '' };
  }
  const [command, ...args] = target.command;
  const transport = new StdioClientTransport({ command, args, env: definedOnly(env), stderr: 'pipe' });
  closeOnce(transport);
  const { stderr } = transport;
  if (!(stderr instanceof Readable)) return { transport, lastLines: () => '' };
  const output = new ProgramOutput(stderr, live);
  return { transport, lastLines: () => output.lastLines };
}

/** Ends a connection. Servers of 2025-11-25 keep a session until they hear that it is over. */
export async function leave({ transport }: Way): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    const late = sleep(GOODBYE_MS, undefined, { ref: false });
    await Promise.race([transport.terminateSession(), late]).catch(() => undefined);
  }
  await transport.close().catch(() => undefined);
}

/**
 * The official client closes a connection that it could not make and does not wait for that, and a second `close` has
 * nothing to wait for: a program that does not leave by itself would outlive the command.
 */
function closeOnce(transport: StdioClientTransport): void {
  const close = transport.close.bind(transport);
  let closing: Promise<void> | undefined;
  transport.close = () => (closing ??= close());
}

/** A program that a person starts in their shell gets what every program gets there. */
function definedOnly(env: CallIo['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
