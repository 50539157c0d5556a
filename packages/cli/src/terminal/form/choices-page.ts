import { fixed, RANKS, type Block } from '../drawing/fit.js';
import { List, type Item } from '../drawing/list.js';
import { marked, own } from '../drawing/paragraphs.js';
import type { Key } from '../keyboard/keys.js';
import type { Theme } from '../theme.js';
import { itemsOf, type Choosable } from './choosable.js';
import { entryOf, type AskedField, type Entry } from './entry.js';
import type { FieldPage, Settled } from './field-page.js';

/** A field with several answers of those that there are. */
export class ChoicesPage implements FieldPage {
  readonly hints: readonly string[];
  readonly #asked: AskedField;
  readonly #theme: Theme;
  readonly #list: List<Choosable>;
  /** In the order of the list, whatever the order of the ticks. */
  readonly #ticked: Set<string>;
  #note = '';
  /** Whether the person was told that nothing is ticked: who takes Enter for ticking sends nothing by that. */
  #isWarned = false;
  #isTouched = false;

  constructor(asked: AskedField, theme: Theme) {
    const { preset } = asked;
    this.#asked = asked;
    this.#theme = theme;
    this.#ticked = new Set(Array.isArray(preset) ? (preset as readonly string[]) : []);
    const isTicked = ({ value }: Item<Choosable>): boolean | undefined =>
      value.type === 'value' ? this.#ticked.has(String(value.value)) : undefined;
    this.#list = new List(itemsOf(asked), theme, { pointTo: (item) => isTicked(item) === true, isTicked });
    this.hints = [
      `${theme.marks.arrows} move`,
      'Space tick',
      ...(this.#list.isSearched ? ['Type to search'] : []),
    ];
  }

  /** Nothing, while the ticks are those that it was settled with. */
  get held(): Entry | undefined {
    return this.#isTouched ? this.#entry() : undefined;
  }

  #entry(): Entry {
    const order = itemsOf(this.#asked).flatMap(({ value }) =>
      value.type === 'value' ? [String(value.value)] : [],
    );
    return entryOf(
      this.#asked,
      order.filter((value) => this.#ticked.has(value)),
    );
  }

  press(key: Key): Settled | undefined {
    if (key.type === 'key' && key.name === 'enter') return this.#settle();
    this.#note = '';
    this.#isWarned = false;
    if (key.type === 'text' && key.text === ' ') this.#toggle();
    else this.#list.press(key);
    return undefined;
  }

  blocks(columns: number): readonly Block[] {
    const { marks, fault, dim } = this.#theme;
    const count = this.#ticked.size === 0 ? 'None ticked.' : `${this.#ticked.size} ticked.`;
    const note =
      this.#note === ''
        ? fixed(own(count, columns, dim), { rank: RANKS.description, least: 0, more: marks.more })
        : fixed(marked(marks.fault, this.#note, columns, fault), { rank: RANKS.fault, more: marks.more });
    return [...this.#list.blocks(columns), note];
  }

  #settle(): Settled | undefined {
    const pointed = this.#list.pointed?.value;
    const entry = pointed?.type === 'left-out' ? pointed : this.#entry();
    if (entry.type === 'fault') {
      this.#note = entry.reason;
      return undefined;
    }
    if (entry.type === 'left-out') this.#ticked.clear();
    else if (this.#ticked.size === 0 && !this.#isWarned) {
      this.#isWarned = true;
      this.#note = 'Nothing is ticked. Space ticks; Enter again answers with none.';
      return undefined;
    }
    this.#isTouched = false;
    return entry;
  }

  #toggle(): void {
    const pointed = this.#list.pointed?.value;
    if (pointed?.type !== 'value') return;
    const value = String(pointed.value);
    const { field } = this.#asked;
    const most = field.type === 'array' ? (field.maxItems ?? Infinity) : Infinity;
    this.#isTouched = true;
    if (this.#ticked.delete(value)) return;
    if (this.#ticked.size >= most)
      this.#note = `It takes at most ${most}. Space on a ticked one takes its tick away.`;
    else this.#ticked.add(value);
  }
}
