import type { Readable } from 'node:stream';
import { harmless } from '../safe-text.js';

/** So much of what a program wrote is kept, in characters: the end of it, which says why it ended. */
const KEPT = 4096;

/** So many lines of that are shown. */
const LINES = 10;

/** What a server that is a program writes to its stderr. It is read always: a full pipe would stop the program. */
export class ProgramOutput {
  #tail = '';

  /** @param live gets everything at once, made harmless */
  constructor(stderr: Readable, live?: (text: string) => void) {
    stderr.setEncoding('utf8');
    stderr.on('data', (text: string) => {
      this.#tail = (this.#tail + text).slice(-KEPT);
      live?.(harmless(text));
    });
    stderr.on('error', () => undefined);
  }

  /** The last lines, made harmless; `''` when it wrote nothing. */
  get lastLines(): string {
    return harmless(this.#tail.trim()).split('\n').slice(-LINES).join('\n');
  }
}
