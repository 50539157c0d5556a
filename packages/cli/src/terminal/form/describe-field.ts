import type { ChoicesField, FieldValue, FormField, TextField } from 'mcp-parley/client';
import { harmless, harmlessLine } from '../../safe-text.js';

/** A choice of a select, with the label that a person sees. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** What a field is called. The server's text, made harmless. */
export function titleOf(name: string, field: FormField): string {
  return harmlessLine(field.title ?? '') || harmlessLine(name) || '(no name)';
}

/** The choices of a field; `undefined` where it has none. Those that would read alike are told apart by their values. */
export function choicesOf(field: TextField | ChoicesField): readonly Choice[] | undefined {
  const choices = listed(field)?.map(({ value, title }) => ({
    value,
    label: harmlessLine(title).trim() || labelOf(value),
  }));
  if (choices === undefined) return undefined;
  const times = new Map<string, number>();
  for (const { label } of choices) times.set(label, (times.get(label) ?? 0) + 1);
  return choices.map(({ value, label }) =>
    times.get(label) === 1 ? { value, label } : { value, label: `${label} (${labelOf(value)})` },
  );
}

interface Titled {
  readonly value: string;
  readonly title: string;
}

function listed(field: TextField | ChoicesField): readonly Titled[] | undefined {
  if (field.type === 'array')
    return 'enum' in field.items ? field.items.enum.map(untitled) : field.items.anyOf.map(titled);
  const names = field.enumNames;
  if (field.enum === undefined) return field.oneOf?.map(titled);
  return field.enum.map((value, index) => ({ value, title: names?.[index] ?? value }));
}

function titled({ const: value, title }: { readonly const: string; readonly title: string }): Titled {
  return { value, title };
}

function untitled(value: string): Titled {
  return { value, title: value };
}

function labelOf(value: string): string {
  if (value === '') return '(empty text)';
  return harmlessLine(value).trim() || harmless(JSON.stringify(value));
}

/** What a field takes, in a few words of our own. */
export function demandsOf(field: FormField): readonly string[] {
  switch (field.type) {
    case 'boolean':
      return ['yes or no'];
    case 'number':
    case 'integer': {
      const kind = field.type === 'integer' ? 'whole number' : 'number';
      return [[kind, range(field.minimum, field.maximum)].filter((part) => part !== '').join(', ')];
    }
    case 'array': {
      const count = range(field.minItems === 0 ? undefined : field.minItems, field.maxItems);
      return [count === '' ? 'choose any' : `choose ${count}`];
    }
    case 'string': {
      if (choicesOf(field) !== undefined) return ['choose one'];
      const length = range(field.minLength === 0 ? undefined : field.minLength, field.maxLength);
      return [
        ...(field.format === undefined ? [] : [FORMATS[field.format]]),
        ...(length === '' ? [] : [`${length} characters`]),
      ];
    }
  }
}

const FORMATS = {
  email: 'e-mail address',
  uri: 'address, as https://example.com',
  date: 'date, as 2026-03-09',
  'date-time': 'date and time, as 2026-03-09 14:30',
} as const;

function range(from: number | undefined, to: number | undefined): string {
  if (from !== undefined && to !== undefined) return from === to ? `${from}` : `${from} to ${to}`;
  if (from !== undefined) return `at least ${from}`;
  return to === undefined ? '' : `at most ${to}`;
}

/** A value in words, as the review and the record show it; `undefined` stands for a field that is left out. */
export function wordsOf(field: FormField, value: FieldValue | undefined): string {
  if (value === undefined) return 'left out';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  if (value === '') return '(empty text)';
  const choices = field.type === 'string' || field.type === 'array' ? choicesOf(field) : undefined;
  const label = (text: string) => choices?.find((choice) => choice.value === text)?.label ?? visible(text);
  if (typeof value === 'string') return label(value);
  return value.length === 0 ? 'none' : value.map(label).join(', ');
}

/** Unlike {@link harmlessLine}, for what is sent: a line break in it is seen as one. */
function visible(text: string): string {
  return harmless(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Names of what gives access to something, or moves money (FORM-21, FORM-22). */
const SECRETS = new RegExp(
  [
    'pass ?(?:word|phrase|code|wd)|\\bpwd\\b|\\bpin\\b|secret|credential|\\btoken\\b',
    '(?:api|access|private|signing|encryption) ?key',
    'card ?(?:number|no\\b)|\\b(?:cvv|cvc|otp)\\b',
    '(?:one ?time|recovery|verification|security) ?(?:code|phrase)|(?:seed|backup) ?phrase',
  ].join('|'),
  'i',
);

/** Whether a form seems to ask for a secret there, which no server may (FORM-21). */
export function looksSecret(name: string, field: FormField): boolean {
  if (field.type !== 'string' || choicesOf(field) !== undefined) return false;
  const words = [name, field.title ?? '', field.description ?? ''].map((text) =>
    text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').replaceAll(/[-_\s]+/g, ' '),
  );
  return words.some((text) => SECRETS.test(text));
}
