/** Shorter secrets cannot be told from other text, and hold nothing worth hiding. */
const LEAST = 8;

/** So many characters in a row that stand in a secret too are a piece of it. */
const PIECE = 16;

/** Pieces that are looked for, at most, for each way to write the secret; of longer ones fewer are. */
const MOST_PIECES = 8192;

/**
 * Takes a secret (a state, the id of a task) out of an error that came with a response: servers and proxies quote
 * what they were sent, and transports put that into messages. Taken out is what a piece of the secret stands in,
 * wherever an echo was cut, in texts and in names of members, as it is or as JSON and URLs write it. The error itself
 * stays what it was, so that `instanceof` and codes hold. `mark` is what stands in its place.
 *
 * The time that it takes grows with the size of the error, and with nothing else: no text of the other side's makes
 * it look at the same place again and again.
 */
export function scrub(error: unknown, secret: string | undefined, mark: string): void {
  if (secret === undefined || secret.length < LEAST) return;
  const search = searchFor(secret, mark);
  const seen = new Set<object>();
  const left: unknown[] = [error];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    // Bytes are no text, and there may be millions.
    if (ArrayBuffer.isView(value)) continue;
    for (const name of Object.getOwnPropertyNames(value)) left.push(clean(value, name, search));
  }
}

/** Where a piece stands in one of the forms of a secret. */
interface Place {
  readonly form: string;
  readonly at: number;
}

interface Search {
  readonly mark: string;
  readonly length: number;
  readonly pieces: ReadonlyMap<string, readonly Place[]>;
}

function searchFor(secret: string, mark: string): Search {
  const length = Math.min(PIECE, secret.length);
  const pieces = new Map<string, Place[]>();
  for (const form of formsOf(secret)) {
    const stride = Math.max(length >> 1, Math.ceil(form.length / MOST_PIECES));
    const last = form.length - length;
    for (let at = 0; at < last + stride; at += stride) {
      const from = Math.min(at, last);
      const piece = form.slice(from, from + length);
      const places = pieces.get(piece) ?? [];
      // One place in each form: more would be compared again and again where a secret repeats itself.
      if (places.at(-1)?.form !== form) pieces.set(piece, [...places, { form, at: from }]);
    }
  }
  return { mark, length, pieces };
}

/** In a quoted body it stands as JSON wrote it, in a log of such a body as JSON wrote that, in an address as URLs do. */
function formsOf(secret: string): Set<string> {
  const quoted = inJson(secret);
  // Halves of pairs have no encoding.
  const encoded = encodeURIComponent(secret.replaceAll(/\p{Cs}/gu, '\ufffd'));
  const lower = encoded.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase());
  return new Set([secret, quoted, inJson(quoted), encoded, lower]);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Cleans one member, and gives what it holds, to be looked into. */
function clean(owner: object, name: string, search: Search): unknown {
  const property = Object.getOwnPropertyDescriptor(owner, name);
  if (property === undefined) return undefined;
  // `stack` of an error is an accessor on some engines.
  const held: unknown =
    'value' in property ? property.value : name === 'stack' ? Reflect.get(owner, name) : undefined;
  const [cleanName, cleanHeld] = [
    without(name, search),
    typeof held === 'string' ? without(held, search) : held,
  ];
  if ((cleanName !== name || cleanHeld !== held) && property.configurable === true) {
    if (cleanName !== name) Reflect.deleteProperty(owner, name);
    const { enumerable = false } = property;
    Object.defineProperty(owner, cleanName, {
      value: cleanHeld,
      writable: true,
      configurable: true,
      enumerable,
    });
  }
  return held;
}

function without(text: string, { mark, length, pieces }: Search): string {
  let result = '';
  // Up to here the text is in the result, or was taken out.
  let done = 0;
  for (let at = 0; at + length <= text.length;) {
    const places = pieces.get(text.slice(at, at + length));
    if (places === undefined) {
      at += 1;
      continue;
    }
    let [start, end] = [at, at + length];
    for (const place of places) {
      start = Math.min(start, at - sameBefore(text, at, done, place));
      end = Math.max(end, at + sameFrom(text, at, place));
    }
    // What goes on where the last one ended is one with it.
    result += start === done && result.endsWith(mark) ? '' : text.slice(done, start) + mark;
    done = end;
    at = end;
  }
  return result + text.slice(done);
}

/** How many characters before a place are the same in the text, back to `least`. */
function sameBefore(text: string, at: number, least: number, { form, at: place }: Place): number {
  let count = 0;
  while (at - count > least && count < place && form[place - count - 1] === text[at - count - 1]) count += 1;
  return count;
}

/** How many characters from a place on are. */
function sameFrom(text: string, at: number, { form, at: place }: Place): number {
  let count = 0;
  while (place + count < form.length && form[place + count] === text[at + count]) count += 1;
  return count;
}
