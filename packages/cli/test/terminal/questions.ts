import type { FormField, FormQuestion, UrlQuestion, UrlWarning } from 'mcp-parley/client';
import type { AskedField } from '../../src/terminal/form/entry.js';
import { fieldsOf } from '../../src/terminal/form/fields.js';
import { themeOf } from '../../src/terminal/theme.js';

/** Marks as in a good terminal, and no colours. */
export const THEME = themeOf({ hasColors: () => false }, { TERM: 'xterm-256color' });

/** A form as the driver gives it to a handler. */
export function form(
  message: string,
  properties: Readonly<Record<string, FormField>>,
  required: readonly string[] = Object.keys(properties),
): FormQuestion {
  return { key: 'form', kind: 'form', message, schema: { type: 'object', properties, required } };
}

/** A page to be opened, as the driver gives it. */
export function page(url: string, warnings: readonly UrlWarning[] = []): UrlQuestion {
  return { key: 'page', kind: 'url', message: 'Please sign in.', url, host: new URL(url).host, warnings };
}

/** One field of a form of its own. */
export function asked(field: FormField, presence: 'required' | 'optional' = 'required'): AskedField {
  const [only] = fieldsOf(form('?', { it: field }, presence === 'required' ? ['it'] : []));
  if (only === undefined) throw new Error('unreachable');
  return only;
}

/** More choices than a window has lines. */
export const COUNTRIES =
  'Argentina,Australia,Austria,Belgium,Brazil,Bulgaria,Canada,Chile,Croatia,Cyprus,Czechia,Denmark,Estonia,Finland,France,Germany,Greece,Hungary,Iceland,Ireland,Italy,Japan,Latvia,Lithuania,Luxembourg,Malta,Mexico,Netherlands,Norway,Poland,Portugal,Romania,São Tomé,Slovakia,Slovenia,South Korea,Spain,Sweden,Switzerland,United Kingdom'.split(
    ',',
  );
