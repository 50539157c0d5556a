import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, open, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Ended, EXIT, WrongUse } from '../outcome.js';
import { harmlessLine } from '../safe-text.js';
import { fileFault } from '../text-input.js';

/** What a file is called by its media type. Anything else is `.bin`: a name is never taken from a server. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/avif', 'avif'],
  ['image/svg+xml', 'svg'],
  ['image/bmp', 'bmp'],
  ['image/tiff', 'tiff'],
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp4', 'm4a'],
  ['audio/ogg', 'ogg'],
  ['audio/flac', 'flac'],
  ['video/mp4', 'mp4'],
  ['application/pdf', 'pdf'],
  ['application/zip', 'zip'],
  ['application/json', 'json'],
]);

/** Names that are tried for a file, until one is free. */
const TRIES = 1000;

/** A folder for what a result holds beside text. It is made when the first file is written. */
export class MediaFolder {
  readonly #chosen: string | undefined;
  /** Numbers that are taken, by kind and extension. */
  readonly #taken = new Map<string, number>();
  #path: Promise<string> | undefined;
  #fault: Ended | undefined;

  /** @param chosen the folder; a new one in the system's folder for temporary files by default */
  constructor(chosen?: string) {
    this.#chosen = chosen;
  }

  /** Why a file was not written, if one was not. */
  get fault(): Ended | undefined {
    return this.#fault;
  }

  /**
   * Writes a file that only its owner can read, under a name of its own: nothing is overwritten, no link followed.
   *
   * @param kind what it is, and what its name begins with
   * @returns its whole path, or words in its place when it cannot be written: the rest of the result counts for more
   */
  async write(kind: 'image' | 'audio' | 'resource', base64: string, mediaType = ''): Promise<string> {
    const essence = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
    const extension = EXTENSIONS.get(essence) ?? 'bin';
    try {
      this.#path ??= this.#make();
      const folder = await this.#path;
      const bytes = Buffer.from(base64, 'base64');
      const first = (this.#taken.get(kind + extension) ?? 0) + 1;
      for (let nth = first; nth < first + TRIES; nth += 1) {
        const path = join(folder, `${kind}-${nth}.${extension}`);
        if (!(await writeNew(path, bytes))) continue;
        this.#taken.set(kind + extension, nth);
        return path;
      }
      throw new Error('no name is free');
    } catch (error) {
      const folder = this.#chosen ?? tmpdir();
      this.#fault ??= new Ended(
        EXIT.failed,
        `The ${kind} was not written: ${harmlessLine(folder)} ${fileFault(error)}.`,
        { cause: error },
      );
      return `(${kind} not written)`;
    }
  }

  async #make(): Promise<string> {
    if (this.#chosen === undefined) return mkdtemp(join(tmpdir(), 'parley-'));
    // Not recursive: there are folders (/proc) below which Node would try for ever.
    await mkdir(this.#chosen, { mode: 0o700 }).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
    return resolve(this.#chosen);
  }
}

/**
 * Sees whether files can be written to a folder, or the folder can be made. Better now than when there is a result.
 *
 * @throws WrongUse when they cannot.
 */
export async function checkMediaFolder(chosen: string): Promise<void> {
  const fault = (what: string): never => {
    throw new WrongUse(`--media-dir: ${harmlessLine(chosen)} ${what}.`);
  };
  const there = await stat(chosen).catch((error: unknown) =>
    hasCode(error, 'ENOENT') ? undefined : fault(fileFault(error)),
  );
  if (there?.isDirectory() === false) fault('is not a folder');
  const folder = there === undefined ? dirname(resolve(chosen)) : chosen;
  await access(folder, constants.W_OK | constants.X_OK).catch((error: unknown) =>
    fault(there === undefined ? `cannot be made: its folder ${fileFault(error)}` : fileFault(error)),
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function writeNew(path: string, bytes: Uint8Array): Promise<boolean> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'wx', 0o600);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  try {
    await file.writeFile(bytes);
  } finally {
    await file.close();
  }
  return true;
}
