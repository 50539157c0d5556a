import widthOf from 'fast-string-width';

// Everything here takes harmless text without styles: these are put on whole lines afterwards.

/** Most of what is drawn, and quick to measure. */
const ASCII = /^[\u0020-\u007e]*$/;
const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** What a person takes for one character. */
export function graphemes(text: string): string[] {
  if (ASCII.test(text)) return text.split('');
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** Columns that a text takes. */
export function columnsOf(text: string): number {
  return ASCII.test(text) ? text.length : widthOf(text);
}

/** Breaks a text into lines of at most so many columns: between words where it can, inside of one where it must. */
export function wrap(text: string, columns: number): string[] {
  const width = Math.max(columns, 2); // a wide character takes two
  return text
    .replaceAll('\t', '  ')
    .split('\n')
    .flatMap((line) => wrapLine(line, width));
}

/** As {@link wrap}, at the edge and nowhere else: joined again, the lines are the text. */
export function wrapHard(text: string, columns: number): string[] {
  const lines: string[] = [];
  let [line, used] = ['', 0];
  for (const grapheme of graphemes(text)) {
    const width = columnsOf(grapheme);
    if (used + width > columns && line !== '') {
      lines.push(line);
      [line, used] = ['', 0];
    }
    line += grapheme;
    used += width;
  }
  return [...lines, line];
}

function wrapLine(text: string, columns: number): string[] {
  if (columnsOf(text) <= columns) return [text];
  const lines: string[] = [];
  let [line, used] = ['', 0];
  // Words with the space before them, so that indents and columns of a server's text stay.
  for (const [word] of text.matchAll(/ *[^ ]+| +$/g)) {
    const width = columnsOf(word);
    if (used + width <= columns) {
      line += word;
      used += width;
      continue;
    }
    const bare = used === 0 ? word : word.trimStart();
    if (used > 0) lines.push(line);
    const parts = wrapHard(bare, columns);
    line = parts.pop() ?? '';
    used = columnsOf(line);
    for (const part of parts) lines.push(part); // more of them than a call may have arguments
  }
  return used === 0 ? lines : [...lines, line];
}

/** The text on one line of at most so many columns; `more` says that there is more of it. */
export function cut(text: string, columns: number, more: string): string {
  if (columnsOf(text) <= columns) return text;
  let [line, used] = ['', columnsOf(more)];
  if (used > columns) return '';
  for (const grapheme of graphemes(text)) {
    used += columnsOf(grapheme);
    if (used > columns) break;
    line += grapheme;
  }
  return `${line}${more}`;
}

/** Fills a text with spaces, up to so many columns. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}
