import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ended, EXIT, WrongUse } from './outcome.js';
import { harmlessLine } from './safe-text.js';
import { fileFault } from './text-input.js';

/** What a module says of its server. */
export interface ServerModule {
  /** The file, as an address. */
  readonly url: string;
  /** The Parley that the server is attached to. */
  readonly parley: object;
  /** Makes the server. */
  readonly factory: (...args: never) => unknown;
}

/**
 * Imports a module of the user's, ESM or CommonJS, that exports `parley`, and the server's factory: by default, or named
 * `factory`.
 *
 * @throws WrongUse when it is not there, or lacks one of them; Ended when it fails.
 */
export async function loadServerModule(path: string): Promise<ServerModule> {
  const file = resolve(path);
  const shown = harmlessLine(path);
  try {
    await access(file);
  } catch (error) {
    throw new WrongUse(`${shown} ${fileFault(error)}.`, { cause: error });
  }
  const url = pathToFileURL(file).href;
  let module: unknown;
  try {
    module = await import(url);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Ended(EXIT.failed, `${shown} cannot be loaded: ${reason}`, { cause: error });
  }
  const parley = exported(module, 'parley');
  if (typeof parley !== 'object' || parley === null) {
    throw new WrongUse(
      `${shown} has no export named parley. Export the Parley that its server is attached to: ` +
        'export const parley = new Parley({ keys, tasks: postgresTasks({ pool }) });',
    );
  }
  const factory = exported(module, 'factory') ?? exported(module, 'default');
  if (typeof factory !== 'function') {
    throw new WrongUse(
      `${shown} exports no function that makes the server. Export it by default, or named factory: ` +
        'export default function () { const mcp = new McpServer(…); parley.attach(mcp); …; return mcp; }',
    );
  }
  return { url, parley, factory: factory as ServerModule['factory'] };
}

/** An export. Those of CommonJS may stand inside of the default one only, which is then no export itself. */
function exported(module: unknown, name: string): unknown {
  const inner = memberOf(module, 'default');
  const outside = name === 'default' && typeof inner !== 'function' ? undefined : memberOf(module, name);
  return outside ?? memberOf(inner, name);
}

function memberOf(value: unknown, name: string): unknown {
  const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isHolder ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
