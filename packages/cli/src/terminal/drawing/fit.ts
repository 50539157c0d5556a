import type { Frame, Line, Size } from './screen.js';
import { columnsOf, cut, pad } from './text-layout.js';

/** A part of what is drawn, from top to bottom. */
export interface Block {
  /** Rows that it takes when there is room. */
  readonly want: number;
  /** Rows that it gives way to before any other block does. */
  readonly eases?: number;
  /** Rows that it needs. */
  readonly least: number;
  /** Who gives way first when there is no room: the lowest. */
  readonly rank: number;
  /** Draws it in so many rows, at least one: no more lines than that. */
  readonly draw: (rows: number) => Drawn;
}

/** What a block draws. One block of a frame has the cursor. */
export interface Drawn {
  readonly lines: readonly Line[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** Which of the blocks gives way before which. */
export const RANKS = {
  gap: 0,
  hints: 1,
  description: 2,
  step: 3,
  message: 4,
  warning: 5,
  title: 6,
  fault: 7,
  header: 8,
  body: 9,
};

/** Puts blocks one below the other, so that they fit the window. */
export function fit(blocks: readonly Block[], { columns, rows }: Size): Frame {
  const heights = blocks.map((block) => block.want);
  let over = heights.reduce((sum, height) => sum + height, 0) - rows;
  const order = blocks.map((_, index) => index).toSorted((a, b) => rankOf(blocks, a) - rankOf(blocks, b));
  const bounds: readonly ((block: Block) => number)[] = [
    ({ eases, want }) => eases ?? want,
    ({ least }) => least,
    () => 0,
  ];
  for (const bound of bounds) {
    for (const index of order) {
      const block = blocks[index];
      const least = block === undefined ? 0 : bound(block);
      const height = heights[index] ?? 0;
      const given = Math.min(Math.max(over, 0), Math.max(0, height - least));
      heights[index] = height - given;
      over -= given;
    }
  }
  const lines: Line[] = [];
  let cursor = { row: 0, column: 0 };
  for (const [index, block] of blocks.entries()) {
    const height = heights[index] ?? 0;
    if (height === 0) continue;
    const drawn = block.draw(height);
    if (drawn.cursor !== undefined) {
      cursor = { row: lines.length + drawn.cursor.row, column: drawn.cursor.column };
    }
    lines.push(...drawn.lines);
  }
  // Windows that are narrower than any prompt cut it.
  return {
    lines: lines.map((line) =>
      columnsOf(line.text) <= columns ? line : { text: cut(line.text, columns, '') },
    ),
    cursor: { row: cursor.row, column: Math.min(cursor.column, columns - 1) },
  };
}

function rankOf(blocks: readonly Block[], index: number): number {
  return blocks[index]?.rank ?? 0;
}

/** Lines of which the last are left out where there is no room; `more` then ends those that are shown. */
export function fixed(
  lines: readonly Line[],
  { rank, least = 1, more }: { readonly rank: number; readonly least?: number; readonly more: string },
): Block {
  return {
    want: lines.length,
    least: Math.min(least, lines.length),
    rank,
    draw: (rows) => {
      if (lines.length <= rows) return { lines };
      const last = lines[rows - 1]?.text ?? '';
      const width = columnsOf(last);
      return { lines: [...lines.slice(0, rows - 1), { text: cut(pad(last, width + 1), width, more) }] };
    },
  };
}

/** An empty line. */
export const GAP: Block = { want: 1, least: 0, rank: RANKS.gap, draw: () => ({ lines: [{ text: '' }] }) };
