import type { FieldValue } from 'mcp-parley/client';
import type { Item } from '../drawing/list.js';
import { itemsOf, type Choosable } from '../form/choosable.js';
import { choicesOf } from '../form/describe-field.js';
import { EMPTY_TEXT, entryOf, readEntry, typedText, type AskedField, type Entry } from '../form/entry.js';
import { choose } from './choose.js';

/** How a field is asked in one line. */
interface Prompt {
  readonly prompt: string;
  /** What there is to choose from, to be listed with numbers. */
  readonly items: readonly Item<Choosable>[];
  readonly note: string;
  /** A value as it is typed. */
  readonly typedOf: (value: FieldValue) => string;
}

/** The word that answers a choice of several with none of them. */
const NONE = 'none';

export function promptOf(asked: AskedField): Prompt {
  const { field, isRequired } = asked;
  if (isTyped(asked)) {
    const mayBeEmpty = entryOf(asked, '').type === 'value' ? ` ${EMPTY_TEXT} is an empty text.` : '';
    return {
      prompt: 'Answer',
      items: [],
      note: isRequired ? '' : `An empty line leaves it out.${mayBeEmpty}`,
      typedOf: typedText,
    };
  }
  const items = itemsOf(asked);
  const numberOf = (value: string | boolean): string =>
    String(items.findIndex((item) => item.value.type === 'value' && item.value.value === value) + 1);
  if (field.type !== 'array') {
    return {
      prompt: 'Number or name',
      items,
      note: '',
      typedOf: (value) => numberOf(value as string | boolean),
    };
  }
  return {
    prompt: 'Numbers or names',
    items,
    note: `Put commas between several. Type ${NONE} for none.`,
    typedOf: (value) => (value as readonly string[]).map(numberOf).join(', ') || NONE,
  };
}

/** Reads the line that somebody typed for a field. */
export function readTyped(asked: AskedField, typed: string): Entry {
  if (isTyped(asked)) return readEntry(asked, typed);
  const items = itemsOf(asked);
  if (asked.field.type !== 'array') {
    const chosen = choose(items, typed);
    return chosen.type === 'item' ? entryFor(asked, chosen.value) : chosen;
  }
  if (typed.trim().toLowerCase() === NONE) return entryOf(asked, []);
  const values: string[] = [];
  for (const part of typed.split(',')) {
    const chosen = choose(items, part);
    if (chosen.type === 'fault') return chosen;
    if (chosen.value.type === 'left-out') return chosen.value;
    values.push(String(chosen.value.value));
  }
  return entryOf(asked, [...new Set(values)]);
}

function entryFor(asked: AskedField, chosen: Choosable): Entry {
  return chosen.type === 'value' ? entryOf(asked, chosen.value) : chosen;
}

function isTyped({ field }: AskedField): boolean {
  return (
    field.type !== 'array' &&
    field.type !== 'boolean' &&
    (field.type !== 'string' || choicesOf(field) === undefined)
  );
}
