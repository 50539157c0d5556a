import { characterOf, decode, encodeLike, encodingOf, sextetOf, withoutPadding } from './encoding.js';

/** A state that differs from one the server gave. */
export interface Edit {
  /** What was done to it, for the report. */
  readonly what: string;
  readonly state: string;
}

/** How many bytes of a part are flipped, spread over its length: a payload without a check has harmless places, too. */
const FLIPPED_BYTES = 12;

/**
 * Edits that no server may take: each changes what the state says, not only how it is written (STATE-02).
 *
 * @param other A state of another flow, for edits that join two.
 */
export function editsOf(state: string, other?: string): readonly Edit[] {
  const parts = state.split('.');
  const edits = [
    ...parts.flatMap((part, at) => [
      ...flippedCharacters(part, nameOf(at, parts)).map((edit) => inPart(parts, at, edit)),
      ...flippedBytes(part, nameOf(at, parts)).map((edit) => inPart(parts, at, edit)),
    ]),
    ...(parts.length > 1 ? parts.flatMap((_, at) => withoutPart(parts, at)) : []),
    { what: 'cut to half', state: state.slice(0, Math.floor(state.length / 2)) },
    { what: 'without its last character', state: withoutPadding(state).slice(0, -1) },
    { what: 'emptied', state: '' },
    { what: 'with text behind it', state: `${state}-TAMPERED` },
    { what: 'with bytes behind it', state: `${withoutPadding(state)}AAAA` },
    { what: 'doubled', state: state + state },
    ...(other === undefined || other === state ? [] : joined(state, other)),
  ];
  return unique(edits, [state, ...(other === undefined ? [] : [other])]);
}

/**
 * The same bytes, written otherwise. A server that takes them can be replayed past a cache that knows states by their
 * text.
 */
export function reencodingsOf(state: string): readonly Edit[] {
  const parts = state.split('.');
  const edits = [
    { what: 'with = behind it', state: `${state}=` },
    { what: 'with == behind it', state: `${state}==` },
    { what: 'without padding', state: withoutPadding(state) },
    { what: 'with a space before it', state: ` ${state}` },
    { what: 'with a space behind it', state: `${state} ` },
    { what: 'with a newline behind it', state: `${state}\n` },
    { what: 'with a newline in the middle', state: spliced(state, Math.floor(state.length / 2), 0, '\n') },
    { what: 'in the other alphabet of base64', state: inOtherAlphabet(parts) },
    ...parts.flatMap((part, at) => otherLast(part, nameOf(at, parts)).map((edit) => inPart(parts, at, edit))),
    ...parts.flatMap((part, at) => otherCase(part, nameOf(at, parts)).map((edit) => inPart(parts, at, edit))),
  ];
  return unique(edits, [state]);
}

function nameOf(at: number, parts: readonly string[]): string {
  return parts.length === 1 ? '' : ` of part ${at + 1}`;
}

function inPart(parts: readonly string[], at: number, edit: Edit): Edit {
  return { what: edit.what, state: parts.with(at, edit.state).join('.') };
}

/** The first, middle and last character. */
function flippedCharacters(part: string, where: string): readonly Edit[] {
  const text = withoutPadding(part);
  if (text === '') return [];
  const places = { first: 0, middle: Math.floor(text.length / 2), last: text.length - 1 };
  return Object.entries(places).map(([name, at]) => ({
    what: `a bit of the ${name} character${where} flipped`,
    state: spliced(part, at, 1, flipped(text, at)),
  }));
}

/** Flips the bit that counts in every position: the low bits of the last character of base64 carry nothing. */
function flipped(text: string, at: number): string {
  const character = text.charAt(at);
  if (encodingOf(text) === 'hex') {
    const digit = (Number.parseInt(character, 16) ^ 8).toString(16);
    return /[A-F]/.test(text) ? digit.toUpperCase() : digit;
  }
  const sextet = sextetOf(character);
  return sextet === -1
    ? String.fromCodePoint((character.codePointAt(0) ?? 0) ^ 1)
    : characterOf(sextet ^ 32, text);
}

function flippedBytes(part: string, where: string): readonly Edit[] {
  const encoding = encodingOf(part);
  if (encoding === undefined) return [];
  const bytes = decode(part, encoding);
  const places = new Set(
    Array.from({ length: FLIPPED_BYTES }, (_, step) =>
      Math.round((step * (bytes.length - 1)) / (FLIPPED_BYTES - 1)),
    ),
  );
  return [...places].map((at) => ({
    what: `a bit of byte ${at + 1}${where} flipped`,
    state: encodeLike(bytes.with(at, (bytes[at] ?? 0) ^ 1), part, encoding),
  }));
}

function withoutPart(parts: readonly string[], at: number): readonly Edit[] {
  return [
    { what: `part ${at + 1} emptied`, state: parts.with(at, '').join('.') },
    { what: `part ${at + 1} left out`, state: parts.toSpliced(at, 1).join('.') },
    {
      what: `part ${at + 1} cut to four characters`,
      state: parts.with(at, (parts[at] ?? '').slice(0, 4)).join('.'),
    },
  ];
}

/** Two states as one, and the parts of one among those of the other. */
function joined(state: string, other: string): readonly Edit[] {
  const [parts, others] = [state.split('.'), other.split('.')];
  const mixed =
    parts.length > 1 && parts.length === others.length
      ? parts.map((_, at) => ({
          what: `with part ${at + 1} of another flow's state`,
          state: parts.with(at, others[at] ?? '').join('.'),
        }))
      : [];
  return [{ what: "with another flow's state behind it", state: state + other }, ...mixed];
}

function inOtherAlphabet(parts: readonly string[]): string {
  return parts
    .map((part) =>
      /[-_]/.test(part) && /^[\w=-]+$/.test(part)
        ? part.replaceAll('-', '+').replaceAll('_', '/')
        : /^[A-Za-z\d+/=]+$/.test(part)
          ? part.replaceAll('+', '-').replaceAll('/', '_')
          : part,
    )
    .join('.');
}

/** Last characters of base64 whose unused bits differ. */
function otherLast(part: string, where: string): readonly Edit[] {
  const text = withoutPadding(part);
  const encoding = encodingOf(part);
  if (encoding === undefined || encoding === 'hex' || text.length % 4 === 0) return [];
  const last = text.length - 1;
  return [
    {
      what: `with another last character${where} that stands for the same bytes`,
      state: spliced(part, last, 1, characterOf(sextetOf(text.charAt(last)) ^ 1, text)),
    },
  ];
}

function otherCase(part: string, where: string): readonly Edit[] {
  if (encodingOf(part) !== 'hex') return [];
  const upper = part.toUpperCase();
  return [
    { what: `hexadecimal${where} in the other case`, state: upper === part ? part.toLowerCase() : upper },
  ];
}

function spliced(text: string, at: number, removed: number, inserted: string): string {
  return text.slice(0, at) + inserted + text.slice(at + removed);
}

/** Leaves out edits that came to the same, and those that came to what the server gave. */
function unique(edits: readonly Edit[], given: readonly string[]): readonly Edit[] {
  const seen = new Set(given);
  return edits.filter(({ state }) => !seen.has(state) && seen.add(state) !== undefined);
}
