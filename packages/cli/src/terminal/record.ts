import { harmless, harmlessLine } from '../safe-text.js';
import { barred, heading, own } from './drawing/paragraphs.js';
import type { Line } from './drawing/screen.js';
import { cut, wrap } from './drawing/text-layout.js';
import type { Theme } from './theme.js';

/** Most rows of a message in the record. */
const MESSAGE_ROWS = 3;

/** What was asked. */
export interface Asked {
  readonly serverName: string;
  readonly message: string;
}

/** What stays on the terminal of a question: who asked what, and what was answered. */
export function record(
  { serverName, message }: Asked,
  {
    rows,
    outcome,
    columns,
    theme,
  }: {
    readonly rows: readonly string[];
    readonly outcome: string;
    readonly columns: number;
    readonly theme: Theme;
  },
): readonly Line[] {
  const { marks, dim } = theme;
  const all = wrap(harmless(message).trim(), columns - 2);
  const shown = all.slice(0, MESSAGE_ROWS);
  const last = shown.at(-1) ?? '';
  if (shown.length < all.length)
    shown[shown.length - 1] = cut(`${last} ${marks.more}`, columns - 2, marks.more);
  return [
    ...heading(marks.closed, `${harmlessLine(serverName)} asked`, columns, theme),
    ...barred(shown, theme, dim),
    ...barred(rows.length === 0 ? [] : ['', ...rows.flatMap((row) => wrap(row, columns - 2))], theme),
    ...own(outcome, columns, dim),
    { text: '' },
  ];
}
