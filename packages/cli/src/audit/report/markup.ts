import { harmless } from '../../safe-text.js';

/** HTML that may be put into a page as it is. Only {@link markup} makes it. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | undefined | readonly Part[];

/** A template of HTML: everything that is put into it is text and is escaped, but for other markup. */
export function markup(fixed: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(
    fixed.map((text, index) => (index === 0 ? '' : written(parts[index - 1])) + text).join(''),
  );
}

/** A sentence, with what stands between backticks as code. */
export function sentence(text: string): Markup {
  return markup`${text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 0 ? part : markup`<code>${part}</code>`))}`;
}

function written(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(written).join('');
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Harmless text, for content and for quoted attributes: what cannot be seen is written out as well. */
function escaped(text: string): string {
  return harmless(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
