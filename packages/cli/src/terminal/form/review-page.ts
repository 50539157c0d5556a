import type { Block } from '../drawing/fit.js';
import { CANCEL, DECLINE } from '../drawing/hints.js';
import { List, type Item } from '../drawing/list.js';
import { columnsOf, cut, pad } from '../drawing/text-layout.js';
import type { Key } from '../keyboard/keys.js';
import type { Theme } from '../theme.js';
import { titleOf, wordsOf } from './describe-field.js';
import type { Filled } from './fields.js';

/** What a person does with a form that is filled in. */
export type Verdict =
  | { readonly type: 'change'; readonly index: number }
  | { readonly type: 'send' }
  | { readonly type: 'decline' }
  | { readonly type: 'cancel' };

/** Widest titles of fields, in columns. */
const WIDEST_TITLE = 24;

/** Most rows of a value, unless it is pointed at. */
const VALUE_ROWS = 3;

/** Everything that would be sent, and what to do with it (FORM-25). */
export class ReviewPage {
  readonly #list: List<Verdict>;

  constructor(filled: readonly Filled[], serverName: string, theme: Theme) {
    const rows = rowsOf(filled, theme).map((label, index): Item<Verdict> => ({
      value: { type: 'change', index },
      label,
      isServers: true,
      rows: VALUE_ROWS,
    }));
    const verdicts: Item<Verdict>[] = [
      { value: { type: 'send' }, label: `Send to ${serverName}`, isServers: false },
      { value: { type: 'decline' }, label: DECLINE, isServers: false },
      { value: { type: 'cancel' }, label: CANCEL, isServers: false },
    ];
    this.#list = new List([...rows, ...verdicts], theme, {
      pointTo: ({ value }) => value.type === 'send',
      isSearched: false,
      isWhole: true,
    });
  }

  press(key: Key): Verdict | undefined {
    if (key.type === 'key' && key.name === 'enter') return this.#list.pointed?.value;
    this.#list.press(key);
    return undefined;
  }

  blocks(columns: number): readonly Block[] {
    return this.#list.blocks(columns);
  }
}

/** Titles and values, one below the other. */
export function rowsOf(filled: readonly Filled[], { marks }: Theme): readonly string[] {
  const titles = filled.map(({ asked }) => cut(titleOf(asked.name, asked.field), WIDEST_TITLE, marks.more));
  const widest = Math.max(0, ...titles.map(columnsOf));
  return filled.map(
    ({ asked, value }, index) => `${pad(titles[index] ?? '', widest)}  ${wordsOf(asked.field, value)}`,
  );
}
