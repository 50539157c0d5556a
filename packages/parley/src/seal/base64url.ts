/**
 * Strict, canonical, unpadded base64url (RFC 4648 section 5), on any runtime.
 *
 * Every byte string has exactly one text here, and every other text is refused. Lenient decoders (Node's, `atob`)
 * skip junk, stop at `=` and ignore the unused low bits of the last character; with one of those, many texts
 * open as one token, and whatever looks at the text (a cache, a log, a single-use record) can be deceived.
 */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Character code of each 6-bit value. */
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0));

/** 6-bit value of each ASCII code; {@link INVALID} for what is not in the alphabet. */
const INVALID = 0xff;
const VALUES = new Uint8Array(128).fill(INVALID);
for (let value = 0; value < CODES.length; value += 1) VALUES[CODES[value] as number] = value;

const ascii = new TextDecoder();

/** Number of base64url characters, without padding, that `bytes` bytes take. */
export function base64urlLength(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}

/** Writes bytes as unpadded base64url (RFC 4648 section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  const text = new Uint8Array(base64urlLength(bytes.length));
  const whole = bytes.length - (bytes.length % 3);
  let to = 0;
  for (let from = 0; from < whole; from += 3) {
    const group =
      ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number);
    text[to] = CODES[group >>> 18] as number;
    text[to + 1] = CODES[(group >>> 12) & 63] as number;
    text[to + 2] = CODES[(group >>> 6) & 63] as number;
    text[to + 3] = CODES[group & 63] as number;
    to += 4;
  }
  if (whole < bytes.length) {
    const group = ((bytes[whole] as number) << 16) | ((bytes[whole + 1] ?? 0) << 8);
    text[to] = CODES[group >>> 18] as number;
    text[to + 1] = CODES[(group >>> 12) & 63] as number;
    if (to + 2 < text.length) text[to + 2] = CODES[(group >>> 6) & 63] as number;
  }
  return ascii.decode(text);
}

/**
 * Reads unpadded base64url, and gives `undefined` for every text that {@link encodeBase64url} would not write:
 * foreign characters, padding, white space, an impossible length, or unused bits that are not zero.
 */
export function decodeBase64url(text: string): Uint8Array | undefined {
  const rest = text.length % 4;
  if (rest === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  const whole = text.length - rest;
  let to = 0;
  for (let from = 0; from < whole; from += 4) {
    const a = valueAt(text, from);
    const b = valueAt(text, from + 1);
    const c = valueAt(text, from + 2);
    const d = valueAt(text, from + 3);
    // INVALID has bits above the six, so that one test covers the four characters.
    if ((a | b | c | d) > 63) return undefined;
    const group = (a << 18) | (b << 12) | (c << 6) | d;
    bytes[to] = group >>> 16;
    bytes[to + 1] = group >>> 8;
    bytes[to + 2] = group;
    to += 3;
  }
  if (rest === 0) return bytes;
  const a = valueAt(text, whole);
  const b = valueAt(text, whole + 1);
  const c = rest === 3 ? valueAt(text, whole + 2) : 0;
  if ((a | b | c) > 63) return undefined;
  const unused = rest === 3 ? c & 0b11 : b & 0b1111;
  if (unused !== 0) return undefined;
  const group = (a << 18) | (b << 12) | (c << 6);
  bytes[to] = group >>> 16;
  if (rest === 3) bytes[to + 1] = group >>> 8;
  return bytes;
}

function valueAt(text: string, index: number): number {
  return VALUES[text.charCodeAt(index)] ?? INVALID;
}
