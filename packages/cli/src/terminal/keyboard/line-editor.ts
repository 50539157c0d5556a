import { harmlessLine } from '../../safe-text.js';
import { columnsOf, graphemes } from '../drawing/text-layout.js';
import type { Key, KeyName } from './keys.js';

/** Longest text that can be typed, in UTF-16 units. Servers take answers of 64 KiB. */
const LONGEST = 65_536;

/** A line that is being typed, with the keys that every shell has. */
export class LineEditor {
  #before: string[];
  #after: string[] = [];

  readonly #edits: Readonly<Partial<Record<KeyName, () => void>>> = {
    backspace: () => this.#before.pop(),
    delete: () => this.#after.shift(),
    left: () => this.#move(-1),
    right: () => this.#move(1),
    home: () => this.#move(-this.#before.length),
    'ctrl-a': () => this.#move(-this.#before.length),
    end: () => this.#move(this.#after.length),
    'ctrl-e': () => this.#move(this.#after.length),
    'word-left': () => this.#move(-this.#wordBefore()),
    'word-right': () => this.#move(this.#wordAfter()),
    'word-backspace': () => this.#before.splice(this.#before.length - this.#wordBefore()),
    'ctrl-w': () => this.#before.splice(this.#before.length - this.#wordBefore()),
    'ctrl-u': () => (this.#before = []),
    'ctrl-k': () => (this.#after = []),
  };

  constructor(text = '') {
    this.#before = graphemes(text);
  }

  get text(): string {
    return [...this.#before, ...this.#after].join('');
  }

  set text(text: string) {
    this.#before = graphemes(text);
    this.#after = [];
  }

  /** Takes a key. Gives whether it was one of a line's. */
  press(key: Key): boolean {
    if (key.type === 'text') {
      const room = LONGEST - this.text.length;
      // A mark that is typed belongs to the letter before it.
      const last = this.#before.pop() ?? '';
      this.#before = [...this.#before, ...graphemes(last + key.text.slice(0, room))];
      return true;
    }
    const edit = this.#edits[key.name];
    edit?.();
    return edit !== undefined;
  }

  /** The line in rows of so many columns, with what cannot be seen written out, and where the cursor stands. */
  rows(columns: number): { readonly rows: readonly string[]; readonly row: number; readonly column: number } {
    const rows: string[] = [];
    let [line, used] = ['', 0];
    let at = { row: 0, column: 0 };
    const cells = [...this.#before, ...this.#after];
    for (let index = 0; index <= cells.length; index += 1) {
      const cell = index < cells.length ? visible(cells[index] ?? '') : ' '; // the last one is for the cursor
      const width = columnsOf(cell);
      if (used + width > columns && used > 0) {
        rows.push(line);
        [line, used] = ['', 0];
      }
      if (index === this.#before.length) at = { row: rows.length, column: used };
      if (index < cells.length) line += cell;
      used += width;
    }
    return { rows: [...rows, line], ...at };
  }

  #move(by: number): void {
    if (by < 0) this.#after.unshift(...this.#before.splice(by));
    else this.#before.push(...this.#after.splice(0, by));
  }

  #wordBefore(): number {
    return /[^\s]*\s*$/u.exec(this.#before.map(oneUnit).join(''))?.[0].length ?? 0;
  }

  #wordAfter(): number {
    return /^\s*[^\s]*/u.exec(this.#after.map(oneUnit).join(''))?.[0].length ?? 0;
  }
}

/** One UTF-16 unit for each grapheme, so that lengths count graphemes. */
function oneUnit(grapheme: string): string {
  return /^\s/.test(grapheme) ? ' ' : 'x';
}

/** What stands for a character on the screen. A line break that a default of the server's holds must be seen. */
function visible(grapheme: string): string {
  if (grapheme === '\n' || grapheme === '\r\n') return '\\n';
  return grapheme === '\t' ? '\\t' : harmlessLine(grapheme);
}
