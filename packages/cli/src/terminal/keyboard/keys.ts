import { StringDecoder } from 'node:string_decoder';

/** A key that does something, by its name. */
export type KeyName =
  | 'enter'
  | 'escape'
  | 'tab'
  | 'backspace'
  | 'delete'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page-up'
  | 'page-down'
  | 'word-left'
  | 'word-right'
  | 'word-backspace'
  | 'ctrl-a'
  | 'ctrl-c'
  | 'ctrl-d'
  | 'ctrl-e'
  | 'ctrl-k'
  | 'ctrl-n'
  | 'ctrl-p'
  | 'ctrl-u'
  | 'ctrl-w';

/** What a person pressed: a text is one character, unless it was pasted. */
export type Key =
  { readonly type: 'key'; readonly name: KeyName } | { readonly type: 'text'; readonly text: string };

/** Asks a terminal to say what was pasted, so that a line break in it presses no Enter. */
export const PASTE_ON = '\u001b[?2004h';
export const PASTE_OFF = '\u001b[?2004l';

const PASTE_BEGIN = '\u001b[200~';
const PASTE_END = '\u001b[201~';

/** Longest wait for the rest of a sequence, in ms. What begins one may be the Escape key alone. */
const REST_WITHIN = 50;

/** The same for what is being pasted, which may come through a slow line. */
const PASTE_WITHIN = 1000;

const CONTROLS: Readonly<Record<string, KeyName>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\u007f': 'backspace',
  '\u0001': 'ctrl-a',
  '\u0003': 'ctrl-c',
  '\u0004': 'ctrl-d',
  '\u0005': 'ctrl-e',
  '\u000b': 'ctrl-k',
  '\u000e': 'ctrl-n',
  '\u0010': 'ctrl-p',
  '\u0015': 'ctrl-u',
  '\u0017': 'ctrl-w',
};

/** Letters and numbers that end the sequence of a key, as xterm and those after it send them. */
const SEQUENCES: Readonly<Record<string, KeyName>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  '1~': 'home',
  '7~': 'home',
  '4~': 'end',
  '8~': 'end',
  '3~': 'delete',
  '5~': 'page-up',
  '6~': 'page-down',
};

const WORDS: Readonly<Record<string, KeyName>> = {
  b: 'word-left',
  f: 'word-right',
  '\u007f': 'word-backspace',
  '\b': 'word-backspace',
};

/** Reads keys from the bytes of a terminal. */
export class KeyReader {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onKeys: (keys: readonly Key[]) => void;
  #rest = '';
  #timer: NodeJS.Timeout | undefined;

  /** Keys are given together where they came together. */
  constructor(onKeys: (keys: readonly Key[]) => void) {
    this.#onKeys = onKeys;
  }

  /** Takes what the terminal sent. */
  write(chunk: Buffer): void {
    clearTimeout(this.#timer);
    this.#take(this.#rest + this.#decoder.write(chunk), false);
    if (this.#rest === '') return;
    const wait = this.#rest.startsWith(PASTE_BEGIN) ? PASTE_WITHIN : REST_WITHIN;
    this.#timer = setTimeout(() => this.#take(this.#rest, true), wait);
  }

  /** Forgets what has begun and did not end. */
  end(): void {
    clearTimeout(this.#timer);
    this.#rest = '';
  }

  #take(text: string, isAll: boolean): void {
    const keys: Key[] = [];
    let left = text;
    while (left !== '') {
      const next = firstKey(left, isAll);
      if (next === undefined) break;
      left = left.slice(next.length);
      if (next.key !== undefined) keys.push(next.key);
    }
    this.#rest = left;
    if (keys.length > 0) this.#onKeys(keys);
  }
}

interface Read {
  /** Units of UTF-16 that it takes. */
  readonly length: number;
  /** Absent where they mean nothing here. */
  readonly key?: Key;
}

/** The first key in a text that is not empty; `undefined` while its sequence may go on. */
function firstKey(text: string, isAll: boolean): Read | undefined {
  if (text.startsWith('\u001b')) return sequence(text, isAll);
  const typed = /^\P{Cc}/u.exec(text)?.[0];
  if (typed !== undefined) return { length: typed.length, key: { type: 'text', text: typed } };
  const name = CONTROLS[text.charAt(0)];
  return name === undefined ? { length: 1 } : named(1, name);
}

function named(length: number, name: KeyName): Read {
  return { length, key: { type: 'key', name } };
}

function sequence(text: string, isAll: boolean): Read | undefined {
  if (text.startsWith(PASTE_BEGIN)) {
    const end = text.indexOf(PASTE_END);
    if (end === -1 && !isAll) return undefined;
    const pasted = onOneLine(text.slice(PASTE_BEGIN.length, end === -1 ? undefined : end));
    const length = end === -1 ? text.length : end + PASTE_END.length;
    return pasted === '' ? { length } : { length, key: { type: 'text', text: pasted } };
  }
  const behind = text.slice(1);
  const full = /^(?:\[[?>=]?([\d;]*)([@-~])|O([A-Za-z]))/.exec(behind);
  if (full !== null) {
    const [{ length }, numbers = '', last = '', application] = full;
    const [first = '', modifier = '1'] = numbers.split(';');
    const name = SEQUENCES[application ?? (last === '~' ? `${first}~` : last)];
    if (name === undefined) return { length: length + 1 };
    const isWordwise = modifier !== '1' && (name === 'left' || name === 'right');
    return named(length + 1, isWordwise ? `word-${name}` : name);
  }
  const isBegun = /^(?:\[[?>=]?[\d;]*|O)?$/.test(behind);
  if (isBegun && !isAll) return undefined;
  if (isBegun) return behind === '' ? named(1, 'escape') : { length: text.length };
  // Alt sends Escape before the key. Two Escapes are two.
  if (behind.startsWith('\u001b')) return named(1, 'escape');
  const word = WORDS[behind.charAt(0)];
  return word === undefined ? { length: 2 } : named(2, word);
}

/** What was pasted goes into one line: its line breaks and tabs are spaces, its other controls are dropped. */
function onOneLine(text: string): string {
  return text
    .replace(/[\r\n]+$/, '')
    .replaceAll(/\r\n|[\r\n\t]/g, ' ')
    .replaceAll(/\p{Cc}/gu, '');
}
