import type { Item } from '../drawing/list.js';
import { choicesOf } from './describe-field.js';
import type { AskedField } from './entry.js';

/** What a line of the list stands for. */
export type Choosable =
  { readonly type: 'value'; readonly value: string | boolean } | { readonly type: 'left-out' };

/** The lines to choose from: the field's own, and one of ours where it may be left out. */
export function itemsOf({ field, isRequired }: AskedField): readonly Item<Choosable>[] {
  const leaveOut: Item<Choosable> = {
    value: { type: 'left-out' },
    label: 'Leave this field out',
    isServers: false,
  };
  const choices: Item<Choosable>[] =
    field.type === 'string' || field.type === 'array'
      ? (choicesOf(field) ?? []).map(({ value, label }) => ({
          value: { type: 'value', value },
          label,
          alias: value,
          isServers: true,
        }))
      : [true, false].map((value) => ({
          value: { type: 'value', value },
          label: value ? 'Yes' : 'No',
          isServers: false,
        }));
  return isRequired ? choices : [leaveOut, ...choices];
}
