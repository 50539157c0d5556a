import type { Item } from '../drawing/list.js';
import { barred, own } from '../drawing/paragraphs.js';
import type { Line } from '../drawing/screen.js';
import type { Theme } from '../theme.js';

/** What somebody chose, or why that is not clear. */
export type Chosen<T> =
  { readonly type: 'item'; readonly value: T } | { readonly type: 'fault'; readonly reason: string };

/** Items with their numbers, from 1. */
export function numbered(items: readonly Item<unknown>[], columns: number, theme: Theme): Line[] {
  return items.flatMap(({ label, isServers }, index) => {
    const text = `${index + 1}. ${label}`;
    return isServers ? barred([text], theme) : own(text, columns);
  });
}

/** Reads a number, or a name or the only one that begins with it or has it inside. */
export function choose<T>(items: readonly Item<T>[], typed: string): Chosen<T> {
  const text = typed.trim().toLowerCase();
  if (text === '') return { type: 'fault', reason: 'Type a number or a name.' };
  const byNumber = /^\d+$/.test(text) ? items[Number(text) - 1] : undefined;
  if (byNumber !== undefined) return { type: 'item', value: byNumber.value };
  const names = ({ label, alias = '' }: Item<T>) => [label.toLowerCase(), alias.toLowerCase()];
  const ways: readonly ((name: string) => boolean)[] = [
    (name) => name === text,
    (name) => name.startsWith(text),
    (name) => name.includes(text),
  ];
  for (const fits of ways) {
    const found = items.filter((item) => names(item).some(fits));
    const [first] = found;
    if (first === undefined) continue;
    if (found.length === 1) return { type: 'item', value: first.value };
    return { type: 'fault', reason: 'Several match. Type a number, or more of the name.' };
  }
  return { type: 'fault', reason: `Nothing matches. Type a number from 1 to ${items.length}, or a name.` };
}
