/**
 * What a terminal would act on, or what a person would not see: controls (C0, DEL, C1), format characters (bidi
 * controls and tags among them), everything without a glyph of its own, separators of lines and paragraphs, lone
 * surrogates. A variation selector is let pass behind a pictogram: it says how that one is drawn.
 */
const UNSEEN =
  /(?<!\p{Extended_Pictographic})[\ufe0e-\ufe0f]|(?!\n|\t|[\ufe0e-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Makes a server's text harmless, for a terminal and for the person before it. Line breaks and tabs stay; every other
 * character that cannot be seen, or that a terminal acts on, is written out: `\u001b`.
 */
export function harmless(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNSEEN, writtenOut);
}

/** As {@link harmless}, on one line: line breaks and tabs, with the space around them, become one space. */
export function harmlessLine(text: string): string {
  return harmless(text.replaceAll(/[\t\n\r ]*[\t\n\r][\t\n\r ]*/g, ' '));
}

function writtenOut(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
