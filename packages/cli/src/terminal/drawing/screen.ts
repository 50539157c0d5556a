import { columnsOf } from './text-layout.js';

/** How large the window is. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** One line to be drawn: what it says, and how. */
export interface Line {
  /** The text without styles: its width is known. */
  readonly text: string;
  /** The same text with styles; absent where it has none. */
  readonly styled?: string;
}

/** What is to be seen, and where the cursor stands in it. */
export interface Frame {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
/** While drawing, nothing goes on to the next line by itself: a width that a terminal takes for another cuts a line. */
const WRAP_OFF = '\u001b[?7l';
const WRAP_ON = '\u001b[?7h';
const ERASE_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';
const HOME = '\u001b[H';

/**
 * The part of the terminal that is drawn anew, from the line of the cursor down. What stands above it stays. Between
 * two writes the terminal is always as it was found, with its cursor shown: whatever ends the program, nothing has to
 * be restored.
 */
export class Screen {
  readonly #output: NodeJS.WriteStream;
  #drawn: Frame | undefined;
  #columns = 0;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  get size(): Size {
    return { columns: this.#output.columns || 80, rows: this.#output.rows || 24 };
  }

  /** Draws a frame in place of the one before. It must not be higher than the window. */
  draw(frame: Frame): void {
    const { lines, cursor } = frame;
    // Erased first: behind a full line, the cursor still stands on its last character.
    const text = lines.map((line) => `${ERASE_LINE}${line.styled ?? line.text}`).join('\r\n');
    const back = `${up(lines.length - 1 - cursor.row)}\r${right(cursor.column)}`;
    this.#write(`${this.#toTop()}${text}${ERASE_BELOW}${back}`);
    this.#drawn = frame;
    this.#columns = this.size.columns;
  }

  /** Removes what was drawn. */
  clear(): void {
    if (this.#drawn === undefined) return;
    this.#write(`${this.#toTop()}${ERASE_BELOW}`);
    this.#drawn = undefined;
  }

  /** Leaves lines on the terminal for good, above whatever is drawn next. Long ones go on in the next line. */
  print(lines: readonly Line[]): void {
    this.clear();
    this.#output.write(lines.map((line) => `${line.styled ?? line.text}\n`).join(''));
  }

  #write(text: string): void {
    this.#output.write(`${HIDE_CURSOR}${WRAP_OFF}${text}${WRAP_ON}${SHOW_CURSOR}`);
  }

  /**
   * To the first line of what was drawn. A window that became narrower has broken its lines into more of them. Where
   * that happened below the cursor, terminals disagree on where the cursor is now: then the whole window is cleared.
   */
  #toTop(): string {
    if (this.#drawn === undefined) return '\r';
    const { lines, cursor } = this.#drawn;
    const { columns } = this.size;
    if (columns >= this.#columns) return `${up(cursor.row)}\r`;
    const heights = lines.map(({ text }) => Math.max(1, Math.ceil(columnsOf(text) / columns)));
    const isBroken = heights.some((height, row) => row >= cursor.row && height > 1);
    if (isBroken) return `${HOME}${ERASE_BELOW}`;
    return `${up(heights.slice(0, cursor.row).reduce((rows, height) => rows + height, 0))}\r`;
  }
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : '';
}

function right(columns: number): string {
  return columns > 0 ? `\u001b[${columns}C` : '';
}
