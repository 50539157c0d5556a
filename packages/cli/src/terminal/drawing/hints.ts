import type { Theme } from '../theme.js';
import { RANKS, type Block } from './fit.js';
import { INDENT, own } from './paragraphs.js';
import { columnsOf } from './text-layout.js';

/** The ways out, in every list that has them. */
export const DECLINE = 'Decline: say no to the server';
export const CANCEL = 'Cancel the call';

/** The keys that work everywhere. */
export const LEAVING = ['Ctrl-D decline', 'Ctrl-C cancel'] as const;

/** Most columns of a line: the keys that work everywhere have one of their own, and narrower windows do not break it. */
const WIDEST = 60;

/**
 * Which keys do what, in our own words. A line is broken between two hints only. Where there is no room, the last ones
 * are left out: put the important ones first.
 */
export function hints(items: readonly string[], columns: number, theme: Theme): Block {
  const between = ` ${theme.marks.between} `;
  const width = Math.min(columns, WIDEST) - INDENT;
  const lines: string[] = [];
  for (const item of items) {
    const last = lines.at(-1);
    const joined = last === undefined ? item : `${last}${between}${item}`;
    if (last === undefined || columnsOf(joined) > width) lines.push(item);
    else lines[lines.length - 1] = joined;
  }
  const drawn = lines.flatMap((line) => own(line, columns, theme.dim));
  return {
    want: drawn.length,
    least: Math.min(1, drawn.length),
    rank: RANKS.hints,
    draw: (rows) => ({ lines: drawn.slice(0, rows) }),
  };
}
