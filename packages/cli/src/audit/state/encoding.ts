/** How bytes are written as text. */
export type Encoding = 'base64' | 'base64url' | 'hex';

const STANDARD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Texts below this many characters say nothing about how they are encoded. */
const MIN_ENCODED = 8;

/** How a text seems to be encoded; undefined for a text that is none of these, or too short to tell. */
export function encodingOf(text: string): Encoding | undefined {
  if (text.length < MIN_ENCODED) return undefined;
  if (text.length % 2 === 0 && (/^[\da-f]+$/.test(text) || /^[\dA-F]+$/.test(text))) return 'hex';
  if (/^[\w-]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1) return 'base64url';
  if (/^[A-Za-z\d+/]+={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1) return 'base64';
  return undefined;
}

/** The bytes of an encoded text. */
export function decode(text: string, encoding: Encoding): Buffer {
  return Buffer.from(text, encoding);
}

/** Writes bytes as `like` is written: encoding, padding, case. */
export function encodeLike(bytes: Uint8Array, like: string, encoding: Encoding): string {
  const text = Buffer.from(bytes).toString(encoding);
  if (encoding === 'hex') return /[A-F]/.test(like) ? text.toUpperCase() : text;
  if (encoding === 'base64') return like.endsWith('=') || like.length % 4 === 0 ? text : withoutPadding(text);
  return like.endsWith('=') ? text.padEnd(Math.ceil(text.length / 4) * 4, '=') : text;
}

/** Leaves the padding of base64 out. */
export function withoutPadding(text: string): string {
  return text.replace(/=+$/, '');
}

/** The place of a character in the alphabets of base64; -1 for a character of none. */
export function sextetOf(character: string): number {
  return STANDARD.indexOf(character.replace('-', '+').replace('_', '/'));
}

/** The character for a place, in the alphabet that `like` is written in. */
export function characterOf(sextet: number, like: string): string {
  const character = STANDARD[sextet % STANDARD.length] ?? 'A';
  return /[+/]/.test(like) ? character : character.replace('+', '-').replace('/', '_');
}
