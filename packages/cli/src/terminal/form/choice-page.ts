import { fixed, RANKS, type Block } from '../drawing/fit.js';
import { List } from '../drawing/list.js';
import { marked } from '../drawing/paragraphs.js';
import type { Key } from '../keyboard/keys.js';
import type { Theme } from '../theme.js';
import { itemsOf, type Choosable } from './choosable.js';
import type { AskedField, Entry } from './entry.js';
import type { FieldPage, Settled } from './field-page.js';

/** A field with one answer of several: a select, or yes and no. */
export class ChoicePage implements FieldPage {
  readonly hints: readonly string[];
  readonly #asked: AskedField;
  readonly #theme: Theme;
  readonly #list: List<Choosable>;
  #isRefused = false;

  constructor(asked: AskedField, theme: Theme) {
    const { field, preset, isRequired } = asked;
    // Without a default, Enter alone must not say yes.
    const first = preset ?? (isRequired && field.type === 'boolean' ? false : undefined);
    this.#asked = asked;
    this.#theme = theme;
    this.#list = new List(itemsOf(asked), theme, {
      pointTo: ({ value }) => value.type === 'value' && value.value === first,
    });
    this.hints = [`${theme.marks.arrows} choose`, ...(this.#list.isSearched ? ['Type to search'] : [])];
  }

  /** Pointing at something is not choosing it. */
  get held(): Entry | undefined {
    return undefined;
  }

  press(key: Key): Settled | undefined {
    if (key.type === 'key' && key.name === 'enter') {
      const pointed = this.#list.pointed?.value;
      this.#isRefused = pointed === undefined;
      return pointed;
    }
    this.#isRefused = false;
    if (key.type === 'text' && this.#asked.field.type === 'boolean') this.#say(key.text);
    else this.#list.press(key);
    return undefined;
  }

  blocks(columns: number): readonly Block[] {
    const { marks, fault } = this.#theme;
    const lines = this.#isRefused ? marked(marks.fault, 'Nothing is chosen.', columns, fault) : [];
    return [...this.#list.blocks(columns), fixed(lines, { rank: RANKS.fault, more: marks.more })];
  }

  #say(text: string): void {
    const said = text.toLowerCase();
    if (said === 'y' || said === 'n')
      this.#list.pointTo(({ value }) => value.type === 'value' && value.value === (said === 'y'));
  }
}
