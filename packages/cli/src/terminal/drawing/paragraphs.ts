import { harmless, harmlessLine } from '../../safe-text.js';
import type { Key } from '../keyboard/keys.js';
import type { Theme } from '../theme.js';
import { RANKS, type Block } from './fit.js';
import type { Line } from './screen.js';
import { columnsOf, cut, wrap, wrapHard } from './text-layout.js';

/** Columns before each line: those of the bar, or as many spaces. */
export const INDENT = 2;

/** Lines of the server's, each behind a bar. Ours never are, so nothing that a server writes looks like ours. */
export function barred(lines: readonly string[], theme: Theme, style?: (text: string) => string): Line[] {
  const { bar } = theme.marks;
  return lines.map((line) => ({
    text: `${bar} ${line}`,
    styled: `${theme.accent(bar)} ${style === undefined ? line : style(line)}`,
  }));
}

/** Lines of our own; none for no text. */
export function own(text: string, columns: number, style?: (text: string) => string): Line[] {
  if (text === '') return [];
  return wrap(text, columns - INDENT).map((line) => ({
    text: `  ${line}`,
    styled: `  ${style?.(line) ?? line}`,
  }));
}

/** Lines of our own behind a mark. */
export function marked(mark: string, text: string, columns: number, style: (text: string) => string): Line[] {
  const indent = INDENT + columnsOf(mark) + 1;
  return wrap(text, columns - indent).map((line, index) => {
    const shown = `${index === 0 ? mark : ' '.repeat(columnsOf(mark))} ${line}`;
    return { text: `  ${shown}`, styled: `  ${style(shown)}` };
  });
}

/** Who asks. The name is the person's own for that server; it is still only text. */
export function heading(mark: string, text: string, columns: number, theme: Theme): Line[] {
  return wrap(harmlessLine(text), columns - INDENT).map((line, index) => {
    const before = index === 0 ? mark : ' ';
    return { text: `${before} ${line}`, styled: `${theme.accent(before)} ${theme.bold(line)}` };
  });
}

/** A part of a question that may be longer than the window. */
export interface Passage {
  readonly text: string;
  /** Where it breaks: between words, or wherever the line ends, so that no character is lost or added. */
  readonly breaks: 'words' | 'anywhere';
}

/** What a server says at length. Where it does not fit, Page Up and Page Down move it. */
export class ServerText {
  readonly #passages: readonly Passage[];
  readonly #theme: Theme;
  #lines: { readonly columns: number; readonly lines: readonly string[] } | undefined;
  #top = 0;
  #shown = 0;

  constructor(passages: readonly Passage[], theme: Theme) {
    this.#passages = passages;
    this.#theme = theme;
  }

  /** Takes a key. Gives whether it was one of these. */
  press(key: Key): boolean {
    if (key.type !== 'key' || (key.name !== 'page-up' && key.name !== 'page-down')) return false;
    const page = Math.max(1, this.#shown - 1);
    this.#top += key.name === 'page-up' ? -page : page;
    return true;
  }

  block(columns: number): Block {
    const lines = this.#wrapped(columns);
    return {
      want: lines.length,
      least: Math.min(lines.length, 2),
      rank: RANKS.message,
      draw: (rows) => {
        // With more than it can show, one of its rows is ours, and says so.
        const room = lines.length <= rows || rows === 1 ? rows : rows - 1;
        this.#shown = room;
        this.#top = Math.max(0, Math.min(this.#top, lines.length - room));
        const shown = barred(lines.slice(this.#top, this.#top + room), this.#theme);
        if (room === rows) return { lines: shown };
        const { between, more } = this.#theme.marks;
        const last = Math.min(this.#top + room, lines.length);
        const where = `lines ${this.#top + 1} to ${last} of ${lines.length} ${between} PgUp PgDn`;
        const [line] = own(cut(where, columns - INDENT, more), columns, this.#theme.dim);
        return { lines: line === undefined ? shown : [...shown, line] };
      },
    };
  }

  #wrapped(columns: number): readonly string[] {
    if (this.#lines?.columns === columns) return this.#lines.lines;
    const lines = this.#passages.flatMap(({ text, breaks }) =>
      breaks === 'words'
        ? wrap(harmless(text).trimEnd(), columns - INDENT)
        : wrapHard(harmlessLine(text), columns - INDENT),
    );
    this.#lines = { columns, lines };
    return lines;
  }
}
