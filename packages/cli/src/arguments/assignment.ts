import { hideSecrets } from '../hide-secrets.js';
import { parseJson } from '../json-input.js';
import { WrongUse } from '../outcome.js';
import { harmlessLine } from '../safe-text.js';

/** A word of the form `name=value`, or `name:=json`. */
export type Assignment =
  | { readonly name: string; readonly type: 'text'; readonly text: string }
  | { readonly name: string; readonly type: 'json'; readonly value: unknown };

/**
 * Reads the words behind a tool or a prompt.
 *
 * @throws WrongUse for a word of another form, a name that comes twice, and JSON that is none.
 */
export function readAssignments(words: readonly string[]): Assignment[] {
  const names = new Set<string>();
  return words.map((word) => {
    const at = word.indexOf('=');
    const isJson = word[at - 1] === ':';
    const name = word.slice(0, isJson ? at - 1 : at);
    if (at === -1 || name === '') {
      throw new WrongUse(
        hideSecrets(
          `'${harmlessLine(word)}' is not of the form name=value, or name:=json for what is no text.`,
        ),
      );
    }
    if (names.has(name)) throw new WrongUse(`'${harmlessLine(name)}' is given twice.`);
    names.add(name);
    const value = word.slice(at + 1);
    return isJson
      ? { name, type: 'json', value: parseJson(value, `What follows ${harmlessLine(name)}:=`) }
      : { name, type: 'text', text: value };
  });
}
