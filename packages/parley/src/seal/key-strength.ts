/**
 * Refuses what is long enough for a key and still no key: pass phrases, patterns, text.
 *
 * A token can be attacked offline by whoever holds one, with no limit on guesses, and the key derivation is fast on
 * purpose. So the root must be random. These rules find common mistakes; they cannot prove randomness.
 *
 * Each is tuned so that truly random keys pass. Chance of a wrong refusal for 32 random bytes, by calculation:
 * text of UTF-8 about 4e-12, few distinct bytes or steps under 1e-13, one-sided letters (base64 form only) about 8e-9.
 */

/** Least length of a root key, in bytes. */
export const MIN_KEY_BYTES = 32;

const MIN_DISTINCT = 16;

/** Share of the characters of a base64 text that may be of one letter case; random text has 41 % of each. */
const MAX_ONE_CASE = 0.85;
/** The same if the text is nothing but letters, as one random text in 7,500 is: finds WordsInCamelCase. */
const MAX_ONE_CASE_OF_LETTERS = 0.8;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Says what makes these bytes unfit as a root key, or `undefined` if nothing does.
 * The words fit after "Key 1 " and never hold key material.
 */
export function weaknessOfBytes(bytes: Uint8Array): string | undefined {
  if (bytes.length < MIN_KEY_BYTES) return `holds fewer than ${MIN_KEY_BYTES} bytes`;
  if (isText(bytes)) return 'is readable text, so it looks like a pass phrase and not like random bytes';
  if (distinct(bytes) < MIN_DISTINCT || distinct(steps(bytes)) < MIN_DISTINCT) {
    return 'is a pattern and not random bytes';
  }
  return undefined;
}

/** The same for the characters of a key in bare base64 or base64url, where words survive the decoding unseen. */
export function weaknessOfBase64(text: string): string | undefined {
  const lower = text.replace(/[^a-z]/g, '').length;
  const upper = text.replace(/[^A-Z]/g, '').length;
  const isLetters = lower + upper === text.length;
  const allowed = isLetters ? MAX_ONE_CASE_OF_LETTERS : MAX_ONE_CASE;
  if (lower === 0 || upper === 0 || Math.max(lower, upper) > allowed * text.length) {
    return 'looks like words and not like random base64';
  }
  return undefined;
}

/** Printable UTF-8, white space included: what somebody typed rather than what a generator gave. */
function isText(bytes: Uint8Array): boolean {
  for (const byte of bytes) {
    const isWhiteSpace = byte === 0x09 || byte === 0x0a || byte === 0x0d;
    if ((byte < 0x20 && !isWhiteSpace) || byte === 0x7f) return false;
  }
  try {
    strictUtf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Differences of neighbours: constant for counting sequences such as 00 01 02 ... */
function steps(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes.subarray(1), (byte, index) => byte - (bytes[index] as number));
}

function distinct(bytes: Uint8Array): number {
  return new Set(bytes).size;
}
