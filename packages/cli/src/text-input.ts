import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { WrongUse } from './outcome.js';
import { harmlessLine } from './safe-text.js';

/** More than any state, answers or arguments take; less than a program chokes on. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Reads a file, or what is like one (a pipe, `/dev/stdin`), as UTF-8.
 *
 * @param shown what it is called in errors; by default its path, which may be a token or a key in the wrong place
 * @throws WrongUse when it is not there, cannot be read, or is too large.
 */
export async function readTextFile(path: string, shown = harmlessLine(path)): Promise<string> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    // Without the cause: the system's message quotes the path.
    throw new WrongUse(`${shown} ${fileFault(error)}.`);
  }
  // The stream closes the file.
  return readText(file.createReadStream(), shown);
}

/**
 * Reads a stream to its end, as UTF-8.
 *
 * @throws WrongUse when it cannot be read, or is too large.
 */
export async function readText(stream: Readable, shown: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MOST_BYTES) break;
    }
  } catch (error) {
    throw new WrongUse(`${shown} ${fileFault(error)}.`);
  }
  if (bytes > MOST_BYTES) throw new WrongUse(`${shown} is too large (more than ${MOST_BYTES} bytes).`);
  return Buffer.concat(chunks).toString('utf8');
}

/** What is wrong with a file, in words. */
export function fileFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  switch (code) {
    case 'ENOENT':
      return 'is not there';
    case 'EISDIR':
      return 'is a folder, not a file';
    case 'EACCES':
    case 'EPERM':
      return 'may not be read or written by you';
    case 'ENOTDIR':
      return 'stands behind something that is not a folder';
    default:
      return `cannot be used (${code})`;
  }
}
