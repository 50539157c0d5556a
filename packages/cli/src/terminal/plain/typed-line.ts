import { harmless } from '../../safe-text.js';
import { columnsOf, graphemes } from '../drawing/text-layout.js';
import type { Key } from '../keyboard/keys.js';

/** A line typed at a terminal that only goes forward, but for one character back. */
export class TypedLine {
  readonly #write: (text: string) => void;
  #typed: string[] = [];

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Begins a line behind a prompt, with some text already there. */
  begin(prompt: string, text = ''): void {
    this.#typed = graphemes(text);
    this.#write(`${prompt}${harmless(text)}`);
  }

  /** Takes a key; gives the line when that was Enter. */
  press(key: Key): string | undefined {
    if (key.type === 'text') {
      this.#typed.push(...graphemes(key.text));
      this.#write(harmless(key.text));
      return undefined;
    }
    if (key.name === 'enter') {
      this.#write('\n');
      return this.#typed.join('');
    }
    if (key.name === 'backspace') this.#takeBack(1);
    if (key.name === 'ctrl-u') this.#takeBack(this.#typed.length);
    return undefined;
  }

  #takeBack(count: number): void {
    const columns = columnsOf(harmless(this.#typed.splice(Math.max(0, this.#typed.length - count)).join('')));
    this.#write('\b \b'.repeat(columns));
  }
}
