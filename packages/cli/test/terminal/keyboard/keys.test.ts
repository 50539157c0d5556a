import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeyReader, type Key } from '../../../src/terminal/keyboard/keys.js';

let heard: string[] = [];
let reader: KeyReader;

beforeEach(() => {
  vi.useFakeTimers();
  heard = [];
  reader = new KeyReader((keys) => heard.push(...keys.map(nameOf)));
});
afterEach(() => {
  reader.end();
  vi.useRealTimers();
});

const nameOf = (key: Key): string => (key.type === 'key' ? `<${key.name}>` : key.text);

function press(text: string): string {
  heard = [];
  reader.write(Buffer.from(text));
  return heard.join('');
}

const SEQUENCES: readonly (readonly [text: string, keys: string])[] = [
  ['abc', 'abc'],
  ['ä漢😀', 'ä漢😀'],
  ['a\rb\n', 'a<enter>b<enter>'],
  ['\t\u007f\b', '<tab><backspace><backspace>'],
  ['\u0003\u0004\u0015', '<ctrl-c><ctrl-d><ctrl-u>'],
  ['\u001b[A\u001b[B\u001b[C\u001b[D', '<up><down><right><left>'],
  ['\u001bOA\u001bOB\u001bOH\u001bOF', '<up><down><home><end>'],
  ['\u001b[H\u001b[F\u001b[1~\u001b[4~\u001b[7~\u001b[8~', '<home><end><home><end><home><end>'],
  ['\u001b[3~\u001b[5~\u001b[6~', '<delete><page-up><page-down>'],
  ['\u001b[1;5D\u001b[1;5C\u001b[1;3D', '<word-left><word-right><word-left>'],
  ['\u001bb\u001bf\u001b\u007f', '<word-left><word-right><word-backspace>'],
  ['\u001b[200~one\r\ntwo\n\u001b[201~!', 'one two!'],
  ['\u001b[200~\u001b[201~', ''],
];

describe('KeyReader', () => {
  it.each(SEQUENCES)('reads %j as %s', (text, keys) => {
    expect(press(text)).toBe(keys);
  });

  it('reads the same keys, however a terminal cuts what it sends', () => {
    const presses = fc.array(fc.constantFrom(...SEQUENCES), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(presses, fc.array(fc.nat(40)), (list, cuts) => {
        heard = [];
        const bytes = Buffer.from(list.map(([text]) => text).join(''));
        const ends = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].toSorted(
          (a, b) => a - b,
        );
        for (const [index, end] of ends.entries()) reader.write(bytes.subarray(ends[index - 1] ?? 0, end));
        expect(heard.join('')).toBe(list.map(([, keys]) => keys).join(''));
      }),
    );
  });

  it('takes an escape for the key when nothing follows it', () => {
    expect(press('\u001b')).toBe('');
    vi.runAllTimers();
    expect(heard).toEqual(['<escape>']);
  });

  it('takes two escapes for two', () => {
    press('\u001b\u001b');
    vi.runAllTimers();
    expect(heard).toEqual(['<escape>', '<escape>']);
  });

  it.each(['\u001b[99X', '\u001b[?1;2c', '\u001b[15~', '\u001bx', '\u0000\u0007\u001f', '\u0085'])(
    'takes %j for no key, and goes on behind it',
    (text) => {
      expect(press(`${text}a`)).toBe('a');
    },
  );

  it('gives what was pasted as one text, without its controls', () => {
    const keys: Key[] = [];
    const own = new KeyReader((some) => keys.push(...some));
    own.write(Buffer.from('\u001b[200~a\tb\r\nc\u0003\u001b[31md\n\n\u001b[201~'));
    expect(keys).toEqual([{ type: 'text', text: 'a b c[31md' }]);
  });

  it('does not wait for ever for the end of what is pasted', () => {
    expect(press('\u001b[200~half')).toBe('');
    vi.runAllTimers();
    expect(heard.join('')).toBe('half');
    expect(press('\u0003')).toBe('<ctrl-c>');
  });
});
