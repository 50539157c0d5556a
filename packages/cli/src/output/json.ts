import { harmless } from '../safe-text.js';

/**
 * JSON that any terminal may show: what it would act on, or nobody would see, is escaped. Parsed, it is the same
 * value.
 */
export function harmlessJson(value: unknown): string {
  // Controls that JSON does not escape itself stand inside of texts only, so an escape is always right there.
  const text = JSON.stringify(value, undefined, 2) ?? 'null';
  return text.replaceAll(/[^\n\u0020-\u007e]/gu, (character) =>
    harmless(character) === character ? character : escaped(character),
  );
}

/** Each of its UTF-16 units, as JSON escapes them. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
