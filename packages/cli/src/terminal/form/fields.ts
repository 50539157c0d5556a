import { prefill, type Answers, type FieldValue, type FormQuestion } from 'mcp-parley/client';
import { harmless } from '../../safe-text.js';
import { barred, INDENT, marked, own } from '../drawing/paragraphs.js';
import type { Line } from '../drawing/screen.js';
import { wrap } from '../drawing/text-layout.js';
import type { Theme } from '../theme.js';
import { demandsOf, looksSecret, titleOf } from './describe-field.js';
import type { AskedField } from './entry.js';

/** A field with its value; none where it is left out. */
export interface Filled {
  readonly asked: AskedField;
  readonly value: FieldValue | undefined;
}

const SECRET_WARNING =
  'This seems to ask for a secret. No server may ask for passwords, keys or card numbers in a form: programs on the ' +
  'way, and models, may read what is typed here. If it is one, decline.';

/** The fields of a form, in the order of its schema. */
export function fieldsOf(question: FormQuestion): readonly AskedField[] {
  const { properties, required = [] } = question.schema;
  const presets = prefill(question.schema);
  return Object.entries(properties).map(([name, field]) => {
    const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
    return { question, name, field, isRequired: required.includes(name), preset };
  });
}

/** The answer that says what was filled in. What was left out stays missing. */
export function answerOf(filled: readonly Filled[]): Answers['form'] {
  const entries = filled.flatMap(({ asked, value }): [string, FieldValue][] =>
    value === undefined ? [] : [[asked.name, value]],
  );
  return { action: 'accept', content: Object.fromEntries(entries) };
}

/** What stands above the prompt of a field. */
export interface Intro {
  /** Where in the form it is, and what it takes. */
  readonly step: readonly Line[];
  readonly title: readonly Line[];
  readonly description: readonly Line[];
  /** That no server may ask this here (FORM-21). */
  readonly warning: readonly Line[];
}

/** Introduces the field at a place of the form, from 0. */
export function introOf(fields: readonly AskedField[], at: number, columns: number, theme: Theme): Intro {
  const { marks, bold, dim, warning } = theme;
  const asked = fields[at];
  if (asked === undefined) return { step: [], title: [], description: [], warning: [] };
  const { name, field, isRequired } = asked;
  const demands = [isRequired ? 'required' : 'optional', ...demandsOf(field)];
  const step = [`Field ${at + 1} of ${fields.length}`, ...demands].join(` ${marks.between} `);
  const width = columns - INDENT;
  const description = harmless(field.description ?? '').trim();
  return {
    step: own(step, columns, dim),
    title: barred(wrap(titleOf(name, field), width), theme, bold),
    description: description === '' ? [] : barred(wrap(description, width), theme),
    warning: looksSecret(name, field) ? marked(marks.warning, SECRET_WARNING, columns, warning) : [],
  };
}
