import { checkAnswer, type FieldValue, type FormField, type FormQuestion } from 'mcp-parley/client';

/** What stands for the empty text, where an empty line leaves the field out. */
export const EMPTY_TEXT = '""';

/** What a person entered in a field. */
export type Entry =
  | { readonly type: 'value'; readonly value: FieldValue }
  /** The field stays missing in the answer. Only an optional one can. */
  | { readonly type: 'left-out' }
  | { readonly type: 'fault'; readonly reason: string };

/** One field of a form that is asked. */
export interface AskedField {
  readonly question: FormQuestion;
  readonly name: string;
  readonly field: FormField;
  readonly isRequired: boolean;
  /** What it starts with: the server's default, where that fits. */
  readonly preset: FieldValue | undefined;
}

/** Under this name a field is checked alone: what is wrong then reads well, whatever a server calls the field. */
const IT = 'It';

/** Checks a value of a field with the rules by which the whole answer will be checked. */
export function entryOf({ question, field }: AskedField, value: FieldValue): Entry {
  const alone: FormQuestion = { ...question, schema: { type: 'object', properties: { [IT]: field } } };
  const check = checkAnswer(alone, { action: 'accept', content: { [IT]: value } });
  if (check.type === 'fits') return { type: 'value', value };
  const reason = check.type === 'faulty' ? check.reason : 'It cannot be sent.';
  return fault(reason.replace(`'${IT}'`, IT));
}

/** Reads what was typed into a field. */
export function readEntry(asked: AskedField, typed: string): Entry {
  const { field, isRequired } = asked;
  if (field.type === 'number' || field.type === 'integer') return readNumber(asked, typed.trim());
  const mayBeEmpty = entryOf(asked, '').type === 'value';
  if (typed === '') {
    if (!isRequired) return { type: 'left-out' };
    return fault(mayBeEmpty ? `It is required. Type ${EMPTY_TEXT} for an empty text.` : 'It is required.');
  }
  if (typed === EMPTY_TEXT && mayBeEmpty) return { type: 'value', value: '' };
  const format = field.type === 'string' ? field.format : undefined;
  switch (format) {
    case 'date':
      return entryOf(asked, fullDate(typed.trim()));
    case 'date-time':
      return entryOf(asked, fullDateTime(typed.trim()));
    case 'email':
    case 'uri':
      return entryOf(asked, typed.trim());
    case undefined:
      return entryOf(asked, typed);
  }
}

/** A value as it is typed: what {@link readEntry} reads as that value. */
export function typedText(value: FieldValue): string {
  return value === '' ? EMPTY_TEXT : String(value);
}

function readNumber(asked: AskedField, typed: string): Entry {
  if (typed === '') return asked.isRequired ? fault('It is required.') : { type: 'left-out' };
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(typed))
    return fault('It must be a number, as 12 or -0.5.');
  const value = Number(typed);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return fault('It has more digits than can be sent exactly.');
  }
  return entryOf(asked, value);
}

/** `2026-3-9` is meant as `2026-03-09`. */
function fullDate(typed: string): string {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(typed);
  if (match === null) return typed;
  const [, year = '', month = '', day = ''] = match;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** `2026-3-9 14:30` is meant in the time of this machine, whose offset from UTC is put behind it. */
function fullDateTime(typed: string): string {
  const match = /^(\S+?)[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?$/i.exec(typed);
  if (match === null) return typed;
  const [, day = '', hour = '', minute = '', second = '00'] = match;
  const local = `${fullDate(day)}T${hour.padStart(2, '0')}:${minute}:${second}`;
  const offset = -new Date(local).getTimezoneOffset();
  if (Number.isNaN(offset)) return local;
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
  const zone = `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
  return `${local}${offset < 0 ? '-' : '+'}${zone}`;
}

function fault(reason: string): Entry {
  return { type: 'fault', reason };
}
