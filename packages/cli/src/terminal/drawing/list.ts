import type { Key, KeyName } from '../keyboard/keys.js';
import { LineEditor } from '../keyboard/line-editor.js';
import type { Theme } from '../theme.js';
import { around } from './around.js';
import { fixed, RANKS, type Block, type Drawn } from './fit.js';
import { INDENT, own } from './paragraphs.js';
import type { Line } from './screen.js';
import { columnsOf, cut, pad, wrap } from './text-layout.js';

/** One line of a list to choose from. */
export interface Item<T> {
  readonly value: T;
  /** What it says; harmless, on one line. */
  readonly label: string;
  /** Whether the label is the server's text, which then stands behind a bar; ours does not. */
  readonly isServers: boolean;
  /** What is searched in, where that is more than the label. */
  readonly alias?: string;
  /** Rows that it may take; 1 by default. The one that is pointed at may take more. */
  readonly rows?: number;
}

/** From so many items on, what is typed searches. */
const SEARCHED_FROM = 11;

/** Most rows of a list, and those that it has where other parts of the question need room. */
const HIGHEST = 12;
const EASY = 7;

/** Most rows of the item that is pointed at. */
const HIGHEST_POINTED = 6;

type Move = (at: number, last: number) => number;

const UP: Move = (at, last) => (at === 0 ? last : at - 1);
const DOWN: Move = (at, last) => (at === last ? 0 : at + 1);

/** Where keys move the pointer. */
const MOVES: Readonly<Partial<Record<KeyName, Move>>> = {
  up: UP,
  'ctrl-p': UP,
  down: DOWN,
  'ctrl-n': DOWN,
  home: () => 0,
  end: (_, last) => last,
};

/** A list with a pointer, and with type-to-search where it is long. */
export class List<T> {
  readonly #items: readonly Item<T>[];
  readonly #theme: Theme;
  readonly #isTicked: (item: Item<T>) => boolean | undefined;
  readonly #isWhole: boolean;
  readonly #search: LineEditor | undefined;
  #pointer = 0;

  constructor(
    items: readonly Item<T>[],
    theme: Theme,
    options: {
      /** What is pointed at first; else that is the first item. */
      readonly pointTo: (item: Item<T>) => boolean;
      readonly isSearched?: boolean;
      /** Whether it takes all the room that there is; else it leaves some to the rest of the question. */
      readonly isWhole?: boolean;
      /** Whether an item is ticked; `undefined` for one that cannot be. Asked whenever it is drawn. */
      readonly isTicked?: (item: Item<T>) => boolean | undefined;
    },
  ) {
    const { pointTo, isSearched = items.length >= SEARCHED_FROM, isWhole = false } = options;
    this.#items = items;
    this.#theme = theme;
    this.#isTicked = options.isTicked ?? (() => undefined);
    this.#isWhole = isWhole;
    this.#search = isSearched ? new LineEditor() : undefined;
    this.#pointer = Math.max(0, items.findIndex(pointTo));
  }

  get isSearched(): boolean {
    return this.#search !== undefined;
  }

  /** The item that is pointed at; `undefined` when a search finds nothing. */
  get pointed(): Item<T> | undefined {
    return this.#found()[this.#pointer];
  }

  /** Points to an item, where it is shown. */
  pointTo(isIt: (item: Item<T>) => boolean): void {
    const index = this.#found().findIndex(isIt);
    if (index !== -1) this.#pointer = index;
  }

  /** Takes a key. Gives whether it was one of a list's. */
  press(key: Key): boolean {
    const move = key.type === 'key' ? MOVES[key.name] : undefined;
    if (move !== undefined) {
      const last = Math.max(0, this.#found().length - 1);
      this.#pointer = Math.min(Math.max(0, move(this.#pointer, last)), last);
      return true;
    }
    if (this.#search === undefined) return false;
    const before = this.#search.text;
    const isTaken = this.#search.press(key);
    if (this.#search.text !== before) this.#pointer = 0;
    return isTaken;
  }

  blocks(columns: number): readonly Block[] {
    const found = this.#found();
    const items = found.map((item, index) => this.#item(item, index === this.#pointer, columns));
    const total = items.reduce((sum, lines) => sum + lines.length, 0);
    const list: Block = {
      want: this.#isWhole ? total : Math.min(total, HIGHEST),
      eases: this.#isWhole ? total : Math.min(total, EASY),
      least: Math.min(total, 3),
      rank: RANKS.body,
      draw: (rows) => this.#draw(items, rows, columns),
    };
    if (this.#search === undefined) return [list];
    const nothing = fixed(own('Nothing matches. Backspace changes the search.', columns), {
      rank: RANKS.body,
      more: this.#theme.marks.more,
    });
    return [this.#searchLine(this.#search, found.length, columns), found.length === 0 ? nothing : list];
  }

  #searchLine(search: LineEditor, found: number, columns: number): Block {
    const lead = '  Search: ';
    const { rows, row, column } = search.rows(Math.max(2, columns - lead.length));
    const line = `${lead}${rows[row] ?? ''}`;
    const count = `  (${found} of ${this.#items.length})`;
    const isRoomy = columnsOf(line) + count.length <= columns;
    return {
      want: 1,
      least: 1,
      rank: RANKS.body,
      draw: () => ({
        lines: [isRoomy ? { text: line + count, styled: line + this.#theme.dim(count) } : { text: line }],
        cursor: { row: 0, column: lead.length + column },
      }),
    };
  }

  #found(): readonly Item<T>[] {
    const searched = plain(this.#search?.text ?? '');
    if (searched === '') return this.#items;
    return this.#items.filter(({ label, alias = '' }) => plain(`${label}\n${alias}`).includes(searched));
  }

  /** The lines of an item. */
  #item(item: Item<T>, isPointed: boolean, columns: number): Line[] {
    const { label, isServers, rows = 1 } = item;
    const { marks, accent, bold } = this.#theme;
    const isTicked = this.#isTicked(item);
    const bar = isServers ? marks.bar : ' ';
    const pointer = isPointed ? marks.pointer : ' '.repeat(marks.pointer.length);
    const tick = isTicked === undefined ? '' : `${isTicked ? marks.ticked : marks.unticked} `;
    const before = INDENT + marks.pointer.length + 1 + tick.length;
    const room = Math.max(2, columns - before);
    const all = wrap(label, room);
    const texts = all.slice(0, isPointed ? HIGHEST_POINTED : rows);
    const last = texts.at(-1) ?? '';
    if (texts.length < all.length) texts[texts.length - 1] = cut(pad(last, room + 1), room, marks.more);
    return texts.map((text, row) => {
      const lead = row === 0 ? `${pointer} ${tick}` : ' '.repeat(before - INDENT);
      return {
        text: `${bar} ${lead}${text}`,
        styled: `${accent(bar)} ${isPointed ? accent(lead) : lead}${isPointed ? bold(text) : text}`,
      };
    });
  }

  /** The items around the pointer, and which those are where there are more. */
  #draw(items: readonly (readonly Line[])[], rows: number, columns: number): Drawn {
    const heights = items.map((lines) => lines.length);
    const total = heights.reduce((sum, height) => sum + height, 0);
    const hasStatus = total > rows && rows > 3;
    const room = hasStatus ? rows - 1 : rows;
    const { from, to } = around(heights, this.#pointer, room);
    const lines = items.slice(from, to).flat().slice(0, room);
    const row = heights.slice(from, this.#pointer).reduce((sum, height) => sum + height, 0);
    const status = cut(`${from + 1} to ${to} of ${items.length}`, columns - INDENT, '');
    return {
      lines: hasStatus ? [...lines, ...own(status, columns, this.#theme.dim)] : lines,
      // Where one searches, the cursor is in the search.
      ...(this.#search === undefined && { cursor: { row, column: INDENT } }),
    };
  }
}

/** A text as it is searched: case, accents and spaces make no difference. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/[\p{M}\s]/gu, '')
    .toLowerCase();
}
