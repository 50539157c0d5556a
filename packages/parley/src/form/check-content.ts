import { quoteName } from '../quote-name.js';
import type { FormField, RestrictedSchema } from './restricted-schema.js';

/** What one field of a form may hold (schema.ts `ElicitResult`). */
export type FieldValue = string | number | boolean | readonly string[];

/** Content that fits its schema, reduced to the declared fields; or what is wrong with it, field by field. */
export type ContentCheck =
  | { readonly ok: true; readonly content: { readonly [field: string]: FieldValue } }
  | { readonly ok: false; readonly reason: string };

/**
 * Checks what a client sent for a form (FORM-20). Fields that were not asked for are dropped rather than
 * refused: nothing that the client made up may grow the state. The reason names fields, never values.
 */
export function checkContent(schema: RestrictedSchema, content: unknown): ContentCheck {
  if (content === undefined) return { ok: false, reason: 'it was accepted without content.' };
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    return { ok: false, reason: 'its content is not an object.' };
  }
  const accepted: Record<string, FieldValue> = {};
  const faults: string[] = [];
  for (const [name, field] of Object.entries(schema.properties)) {
    const value: unknown = Object.hasOwn(content, name)
      ? (content as Record<string, unknown>)[name]
      : undefined;
    if (value === undefined) {
      if (schema.required?.includes(name) === true) faults.push(`${quoteName(name, "'")} is missing`);
      continue;
    }
    const fault = fieldFault(field, value);
    if (fault === undefined) accepted[name] = value as FieldValue;
    else faults.push(`${quoteName(name, "'")} ${fault}`);
  }
  return faults.length === 0
    ? { ok: true, content: accepted }
    : { ok: false, reason: `${faults.join('; ')}.` };
}

function fieldFault(field: FormField, value: unknown): string | undefined {
  switch (field.type) {
    case 'string':
      return typeof value === 'string' ? textFault(field, value) : 'must be a text';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'integer':
    case 'number':
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
      if (field.type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
      if (field.minimum !== undefined && value < field.minimum) return `must be at least ${field.minimum}`;
      if (field.maximum !== undefined && value > field.maximum) return `must be at most ${field.maximum}`;
      return undefined;
    case 'array':
      return choicesFault(field, value);
  }
}

function textFault(field: Extract<FormField, { type: 'string' }>, value: string): string | undefined {
  const options = field.enum ?? field.oneOf?.map((option) => option.const);
  if (options !== undefined && !options.includes(value)) return 'must be one of the choices';
  if (field.minLength !== undefined || field.maxLength !== undefined) {
    const length = lengthInCodePoints(value);
    if (field.minLength !== undefined && length < field.minLength)
      return `must have at least ${field.minLength} characters`;
    if (field.maxLength !== undefined && length > field.maxLength)
      return `must have at most ${field.maxLength} characters`;
  }
  switch (field.format) {
    case 'email':
      return EMAIL.test(value) ? undefined : 'must be an e-mail address';
    case 'uri':
      return !/[\s\\]/.test(value) && URL.canParse(value) ? undefined : 'must be an absolute URI';
    case 'date':
      return isDate(value) ? undefined : 'must be a date (YYYY-MM-DD)';
    case 'date-time':
      return isDateTime(value) ? undefined : 'must be a date and time (RFC 3339)';
    case undefined:
      return undefined;
  }
}

function choicesFault(field: Extract<FormField, { type: 'array' }>, value: unknown): string | undefined {
  const options = 'enum' in field.items ? field.items.enum : field.items.anyOf.map((option) => option.const);
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string' && options.includes(item))) {
    return 'must be a list of the choices';
  }
  if (new Set(value).size !== value.length) return 'must not name a choice twice';
  if (field.minItems !== undefined && value.length < field.minItems)
    return `needs at least ${field.minItems} choices`;
  if (field.maxItems !== undefined && value.length > field.maxItems)
    return `takes at most ${field.maxItems} choices`;
  return undefined;
}

/** JSON Schema counts characters, not UTF-16 units. */
function lengthInCodePoints(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Pragmatic on purpose: one @, no white space, a dot in the domain. The address proves itself by mail. */
const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/;

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day <= (days[month - 1] ?? 0);
}

function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  if (match === null || !isDate(match[1] ?? '')) return false;
  const within = (value: string | undefined, limit: number) => Number(value ?? 0) <= limit;
  return (
    within(match[2], 23) &&
    within(match[3], 59) &&
    within(match[4], 60) &&
    within(match[5], 23) &&
    within(match[6], 59)
  );
}
