import { fixed, RANKS, type Block } from '../drawing/fit.js';
import { INDENT, marked, own } from '../drawing/paragraphs.js';
import type { Key } from '../keyboard/keys.js';
import { LineEditor } from '../keyboard/line-editor.js';
import type { Theme } from '../theme.js';
import { EMPTY_TEXT, entryOf, readEntry, typedText, type AskedField, type Entry } from './entry.js';
import type { FieldPage, Settled } from './field-page.js';
import { nudged } from './nudge.js';

/** Most rows of what is typed; the others are out of sight until the cursor is there. */
const HIGHEST = 5;

/** A field that is typed: text, numbers, dates. */
export class TextPage implements FieldPage {
  readonly #asked: AskedField;
  readonly #theme: Theme;
  readonly #editor: LineEditor;
  /** Whether Enter was refused: from then on, what is wrong is said with every key. */
  #isRefused = false;

  constructor(asked: AskedField, theme: Theme) {
    this.#asked = asked;
    this.#theme = theme;
    this.#editor = new LineEditor(asked.preset === undefined ? '' : typedText(asked.preset));
  }

  get held(): Entry {
    return readEntry(this.#asked, this.#editor.text);
  }

  get hints(): readonly string[] {
    return this.#nudge(1) === undefined ? [] : [`${this.#theme.marks.arrows} change`];
  }

  press(key: Key): Settled | undefined {
    if (key.type === 'key' && key.name === 'enter') {
      const { held } = this;
      this.#isRefused = held.type === 'fault';
      return held.type === 'fault' ? undefined : held;
    }
    if (key.type === 'key' && (key.name === 'up' || key.name === 'down')) {
      this.#editor.text = this.#nudge(key.name === 'up' ? 1 : -1) ?? this.#editor.text;
    } else {
      this.#editor.press(key);
    }
    return undefined;
  }

  blocks(columns: number): readonly Block[] {
    return [this.#input(columns), this.#note(columns)];
  }

  #nudge(by: 1 | -1): string | undefined {
    return nudged(this.#asked, this.#editor.text, by);
  }

  #input(columns: number): Block {
    const { marks, accent } = this.#theme;
    const indent = INDENT + marks.pointer.length + 1;
    const { rows, row, column } = this.#editor.rows(Math.max(2, columns - indent));
    return {
      want: Math.min(rows.length, HIGHEST),
      least: 1,
      rank: RANKS.body,
      draw: (height) => {
        const top = Math.max(0, Math.min(row - height + 1, rows.length - height));
        const lines = rows.slice(top, top + height).map((line, index) => {
          const lead = `  ${index === 0 ? marks.pointer : ' '.repeat(marks.pointer.length)} `;
          return { text: `${lead}${line}`, styled: `${accent(lead)}${line}` };
        });
        return { lines, cursor: { row: row - top, column: indent + column } };
      },
    };
  }

  #note(columns: number): Block {
    const { marks, fault, dim } = this.#theme;
    const { held } = this;
    if (held.type === 'fault') {
      const lines = this.#isRefused ? marked(marks.fault, held.reason, columns, fault) : [];
      return fixed(lines, { rank: RANKS.fault, more: marks.more });
    }
    return fixed(own(this.#meaning(held), columns, dim), {
      rank: RANKS.description,
      least: 0,
      more: marks.more,
    });
  }

  /** What an entry means, where that is more than what was typed. */
  #meaning(held: Settled): string {
    const { field } = this.#asked;
    if (held.type === 'left-out') {
      const mayBeEmpty = entryOf(this.#asked, '').type === 'value';
      return `Empty: the field is left out.${mayBeEmpty ? ` Type ${EMPTY_TEXT} for an empty text.` : ''}`;
    }
    const { value } = held;
    if (value === '') return 'An empty text is sent.';
    if (field.type === 'string' && field.format === 'date' && typeof value === 'string')
      return longDate(value);
    return String(value) === this.#editor.text ? '' : `Sent as ${String(value)}`;
  }
}

function longDate(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(new Date(date));
}
