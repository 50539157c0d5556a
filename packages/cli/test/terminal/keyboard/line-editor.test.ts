import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Key, KeyName } from '../../../src/terminal/keyboard/keys.js';
import { LineEditor } from '../../../src/terminal/keyboard/line-editor.js';

const NAMES = [
  'backspace',
  'delete',
  'left',
  'right',
  'home',
  'end',
  'word-left',
  'word-right',
  'word-backspace',
  'ctrl-a',
  'ctrl-e',
  'ctrl-k',
  'ctrl-u',
  'ctrl-w',
] as const satisfies readonly KeyName[];

/** A line after keys; `|` is the cursor. */
function after(start: string, ...keys: readonly (KeyName | { readonly type: string })[]): string {
  const editor = new LineEditor(start);
  for (const key of keys) editor.press(toKey(key));
  const before = editor.rows(1000).column;
  const { text } = editor;
  return `${text.slice(0, before)}|${text.slice(before)}`;
}

function toKey(key: KeyName | { readonly type: string }): Key {
  return typeof key === 'string' ? { type: 'key', name: key } : { type: 'text', text: key.type };
}

describe('LineEditor', () => {
  it.each([
    ['one two', ['left', 'left', { type: 'X' }], 'one tX|wo'],
    ['one two', ['home', 'right', 'delete'], 'o|e two'],
    ['one two', ['ctrl-a', { type: '>' }], '>|one two'],
    ['one two', ['word-left'], 'one |two'],
    ['one two ', ['word-left', 'word-left'], '|one two '],
    ['one two', ['home', 'word-right'], 'one| two'],
    ['one two', ['ctrl-w'], 'one |'],
    ['one two  ', ['word-backspace', 'backspace'], 'one|'],
    ['one two', ['word-left', 'ctrl-u'], '|two'],
    ['one two', ['word-left', 'ctrl-k'], 'one |'],
    ['', ['backspace', 'delete', 'left', 'right', 'word-left', 'word-right', 'ctrl-w'], '|'],
  ] as const)('%j after %j is %s', (start, keys, end) => {
    expect(after(start, ...keys)).toBe(end);
  });

  it('takes what a person takes for one character as one', () => {
    const editor = new LineEditor('a👩‍💻e\u0301');
    editor.press({ type: 'key', name: 'backspace' });
    expect(editor.text).toBe('a👩‍💻');
    editor.press({ type: 'key', name: 'backspace' });
    expect(editor.text).toBe('a');
    editor.press({ type: 'text', text: 'e' });
    editor.press({ type: 'text', text: '\u0301' });
    editor.press({ type: 'key', name: 'backspace' });
    expect(editor.text).toBe('a');
  });

  it('shows what cannot be seen, and a line break as one', () => {
    expect(new LineEditor('a\u200bb\nc\td\u001b').rows(80).rows).toEqual(['a\\u200bb\\nc\\td\\u001b']);
  });

  it('breaks a long line at the edge, with room for the cursor behind it', () => {
    expect(new LineEditor('abcdef').rows(3)).toEqual({ rows: ['abc', 'def', ''], row: 2, column: 0 });
    expect(new LineEditor('日本語').rows(5)).toEqual({ rows: ['日本', '語'], row: 1, column: 2 });
  });

  it('has a bound', () => {
    const editor = new LineEditor();
    for (let times = 0; times < 3; times += 1) editor.press({ type: 'text', text: 'x'.repeat(40_000) });
    expect(editor.text).toHaveLength(65_536);
  });

  it('does not know keys that are none of a line', () => {
    expect(new LineEditor('x').press({ type: 'key', name: 'up' })).toBe(false);
  });

  it('holds a text and a cursor inside of it, whatever is pressed', () => {
    const key = fc.oneof(
      fc.constantFrom(...NAMES),
      fc.string({ unit: 'grapheme', minLength: 1 }).map((type) => ({ type })),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.array(key),
        fc.integer({ min: 2, max: 30 }),
        (start, keys, columns) => {
          const editor = new LineEditor(start);
          for (const each of keys) editor.press(toKey(each));
          const { rows, row, column } = editor.rows(columns);
          expect(row).toBeLessThan(rows.length);
          expect(column).toBeLessThan(Math.max(columns, 11)); // what is written out may be wider than the window
        },
      ),
    );
  });
});
