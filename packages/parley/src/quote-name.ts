/** Longest piece of a name that stands in a message, in characters. */
const LONGEST = 80;

/**
 * What a terminal acts on, or what a person does not see: controls (C0, C1), bidi controls, characters without width,
 * separators of lines and paragraphs, halves of surrogate pairs; and what would end the quotation.
 */
const UNSEEN = /["'\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Quotes the name of a key or a field for a message. Names are the other side's text, and messages end up on
 * terminals and in logs: what is not a plain character is written out, and what is long is cut.
 */
export function quoteName(name: string, mark: '"' | "'" = '"'): string {
  // So many units hold the characters that are kept, even where each is a pair.
  const characters = Array.from(name.slice(0, 2 * LONGEST + 1));
  const isCut = characters.length > LONGEST;
  const text = isCut ? characters.slice(0, LONGEST).join('') : characters.join('');
  return `${mark}${text.replaceAll(UNSEEN, (character) => writtenOut(character, mark))}${isCut ? '…' : ''}${mark}`;
}

/** Names in a list stop here. */
const MOST = 8;

/** Quotes several names, the first few of them. */
export function quoteNames(names: readonly string[], mark?: '"' | "'"): string {
  const shown = names.slice(0, MOST).map((name) => quoteName(name, mark));
  return `${shown.join(', ')}${names.length > MOST ? ` and ${names.length - MOST} more` : ''}`;
}

function writtenOut(character: string, mark: string): string {
  if (character === '"' || character === "'") return character === mark ? `\\${mark}` : character;
  if (character === '\\') return '\\\\';
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
