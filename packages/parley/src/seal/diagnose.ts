/**
 * What a sealer means by `malformed`, in detail, and which key a token names: for people who hold the key and ask why
 * a state was not accepted. Nothing on the way of a request asks here, and nothing of it reaches the wire.
 */
import { decodeBase64url } from './base64url.js';
import { toHex } from './hex.js';
import { KID_BYTES, OVERHEAD_BYTES, TOKEN_PREFIX } from './token.js';

/** What is wrong with a text that should be a token. Positions count characters of the whole token, from 0. */
export type Malformation =
  /** It does not begin like a token of this library. */
  | { readonly fault: 'foreign' }
  /** It begins like a token of another format, for example `parley2`. */
  | { readonly fault: 'other_format'; readonly format: string }
  /** A character that no token has, and what kind of character that is. */
  | { readonly fault: 'character'; readonly at: number; readonly found: ForeignCharacter }
  /** It has a number of characters that no bytes give: some are missing, or too many. */
  | { readonly fault: 'length' }
  /** Its last character is another than that of the same bytes: it was changed. */
  | { readonly fault: 'last_character' }
  /** It is too short to hold all the parts of a token: the rest was cut off. */
  | { readonly fault: 'cut_off'; readonly bytes: number };

/** Kinds of characters that no token has. `standard_base64` is `+` or `/`. */
export type ForeignCharacter = 'padding' | 'standard_base64' | 'white_space' | 'other';

/** Two whole groups of base64url: they hold the key id, and no bits are left over. */
const HEAD_CHARACTERS = 8;

const OTHER_FORMAT = /^(parley\d{1,9})\./;

/** Says what is wrong with a text that a sealer rejected as `malformed`. */
export function malformation(text: string): Malformation {
  if (!text.startsWith(TOKEN_PREFIX)) {
    const format = OTHER_FORMAT.exec(text)?.[1];
    return format === undefined ? { fault: 'foreign' } : { fault: 'other_format', format };
  }
  const body = text.slice(TOKEN_PREFIX.length);
  const at = body.search(/[^A-Za-z0-9_-]/);
  if (at >= 0) return { fault: 'character', at: TOKEN_PREFIX.length + at, found: kindOf(body.charAt(at)) };
  const bytes = Math.floor((body.length * 3) / 4);
  if (bytes < OVERHEAD_BYTES) return { fault: 'cut_off', bytes };
  return { fault: body.length % 4 === 1 ? 'length' : 'last_character' };
}

/** Id of the key that a token names, 8 hex digits. It stands in the clear; the rest of the token is not looked at. */
export function keyIdOf(token: string): string {
  const head = token.slice(TOKEN_PREFIX.length, TOKEN_PREFIX.length + HEAD_CHARACTERS);
  return toHex((decodeBase64url(head) ?? new Uint8Array()).subarray(0, KID_BYTES));
}

function kindOf(character: string): ForeignCharacter {
  if (character === '=') return 'padding';
  if (character === '+' || character === '/') return 'standard_base64';
  return /\s/.test(character) ? 'white_space' : 'other';
}
