import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  fileStore,
  SavedFlowInvalid,
  SavedFlowOutdated,
  type FlowStore,
  type SavedFlow,
} from 'mcp-parley/client';
import type { HeaderOptions } from './connect/headers.js';
import { wordsOf, type Target } from './connect/target.js';
import { Ended, EXIT, WrongUse } from './outcome.js';
import { harmlessLine } from './safe-text.js';
import { shellWords } from './shell-words.js';
import { fileFault } from './text-input.js';

/**
 * A file for one saved call.
 *
 * @param warn told when the call has ended and its file could not be removed: the result counts for more
 * @returns a store whose `save` throws Ended when the file cannot be written
 */
export function savedCall(path: string, warn: (line: string) => void): FlowStore {
  const store = fileStore(path);
  const shown = harmlessLine(path);
  return {
    load: () => store.load(),
    async save(flow, previous) {
      try {
        await store.save(flow, previous);
      } catch (error) {
        if (error instanceof SavedFlowOutdated) throw error;
        throw new Ended(EXIT.failed, `The call was not saved: ${shown} ${saveFault(error)}.`, {
          cause: error,
        });
      }
    },
    async clear(previous) {
      await store
        .clear(previous)
        .catch((error: unknown) => warn(`Warning: ${shown} was not removed: it ${fileFault(error)}.`));
    },
  };
}

/**
 * A file for a call that is about to begin.
 *
 * @throws WrongUse when there is something by that name, or nothing can be written there. Better now than after the
 * call was sent.
 */
export async function newSavedCall(path: string, warn: (line: string) => void): Promise<FlowStore> {
  const store = savedCall(path, warn);
  const shown = harmlessLine(path);
  if ((await loadSavedCall(store, path)) !== undefined) {
    throw new WrongUse(
      `${shown} holds a call that did not end. Go on with it (${shellWords(['parley', 'resume', path])}), ` +
        'remove it, or choose another name.',
    );
  }
  const folder = dirname(resolve(path));
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new WrongUse(`${shown} cannot be written: its folder ${fileFault(error)}.`, { cause: error });
  }
  return store;
}

/**
 * What a file holds, or `undefined` when it is not there.
 *
 * @throws WrongUse when it is no saved call, or cannot be read.
 */
export async function loadSavedCall(store: FlowStore, path: string): Promise<SavedFlow | undefined> {
  try {
    return await store.load();
  } catch (error) {
    const shown = harmlessLine(path);
    if (error instanceof SavedFlowInvalid) {
      throw new WrongUse(`${shown} is no saved call: ${error.path} ${error.reason}.`, { cause: error });
    }
    throw new WrongUse(`${shown} ${fileFault(error)}.`, { cause: error });
  }
}

function saveFault(error: unknown): string {
  return error instanceof SavedFlowInvalid
    ? `is no saved call: ${error.path} ${error.reason}`
    : fileFault(error);
}

/** The command line that goes on with a saved call, for people to copy. Values of headers are left out. */
export function resumeLine(
  path: string,
  target: Target,
  { header = [], bearerEnv, principal }: HeaderOptions & { readonly principal?: string },
  more: readonly string[],
): string {
  const { before, behind } = wordsOf(target);
  const isSignedIn = header.length > 0 || bearerEnv !== undefined;
  return shellWords([
    'parley',
    'resume',
    path,
    ...(isSignedIn ? before : []),
    ...more,
    ...header.flatMap((text) => ['--header', `${text.split(':', 1)[0]}: …`]),
    ...(bearerEnv === undefined ? [] : ['--bearer-env', bearerEnv]),
    ...(principal === undefined ? [] : ['--principal', principal]),
    ...behind,
  ]);
}
