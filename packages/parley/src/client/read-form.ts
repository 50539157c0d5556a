import { InvalidResponse } from '../errors.js';
import {
  checkContent,
  nothingFits,
  type FieldValue,
  type FormField,
  type RestrictedSchema,
} from '../form/index.js';
import { quoteName } from '../quote-name.js';
import { isObject, isTexts, own, type JsonObject } from './json.js';

/** More fields than any form for a person has (GAP-08). */
const MAX_FIELDS = 256;

/**
 * The dialects whose reading of this subset is one and the same. 2025-11-25 servers send the older ones; another
 * one is an error rather than a schema that is read in another way (basic/index, "JSON Schema Usage").
 */
const DIALECTS = /^https?:\/\/json-schema\.org\/draft(?:\/2020-12|\/2019-09|-07)\/schema#?$/;

/**
 * Reads the schema of a form as a server sent it, keeping only what the protocol's restricted schema has. Keywords
 * that it does not have are ignored; what is not a primitive or a choice, and what no answer fits, cannot be asked
 * (GAP-32). A schema that goes on at another address is not fetched, and not taken for what is there (CORE-25).
 *
 * @throws InvalidResponse naming the question and the field.
 */
export function readForm(key: string, schema: unknown): RestrictedSchema {
  const fault = (reason: string): never => {
    throw new InvalidResponse(`the form ${quoteName(key)} ${reason}`);
  };
  if (!isObject(schema) || own(schema, 'type') !== 'object') return fault('has no schema of an object');
  if (refersElsewhere(schema)) return fault(REFERS_ELSEWHERE);
  const dialect = own(schema, '$schema');
  if (dialect !== undefined && !(typeof dialect === 'string' && DIALECTS.test(dialect))) {
    return fault('is written in an unknown dialect of JSON Schema');
  }
  const properties = own(schema, 'properties');
  if (!isObject(properties)) return fault('has no properties');
  const names = Object.keys(properties);
  if (names.length > MAX_FIELDS) return fault(`has more than ${MAX_FIELDS} fields`);
  if (names.includes('__proto__')) return fault(`has a field '__proto__'`);
  const fields = names.map((name): [string, FormField] => {
    const field = readField(properties[name]);
    if (typeof field === 'string') return fault(`has a field ${quoteName(name)} that ${field}`);
    return nothingFits(field) ? fault(`has a field ${quoteName(name)} that nothing fits`) : [name, field];
  });
  const required = own(schema, 'required') ?? [];
  if (!isTexts(required) || !required.every((name) => Object.hasOwn(properties, name))) {
    return fault('requires fields that it does not have');
  }
  // fromEntries defines members; it never assigns them.
  const result = { type: 'object', properties: Object.fromEntries(fields) } as const;
  return required.length === 0 ? result : { ...result, required: [...required] };
}

/**
 * What a form starts with: the defaults that its schema gives and that fit (FORM-17). They fill fields in advance,
 * for the person to see and change; an answer that leaves a field out leaves it out.
 */
export function prefill(schema: RestrictedSchema): { readonly [field: string]: FieldValue } {
  const presets = Object.entries(schema.properties).flatMap(([name, field]) => {
    const alone = Object.fromEntries([[name, field]]);
    const check = checkContent({ type: 'object', properties: alone }, { [name]: field.default });
    return check.ok ? Object.entries(check.content) : [];
  });
  return Object.fromEntries(presets);
}

/** A field, or what is wrong with it. */
function readField(source: unknown): FormField | string {
  if (!isObject(source)) return 'is not a schema';
  if (refersElsewhere(source)) return REFERS_ELSEWHERE;
  const labels = { ...text(source, 'title'), ...text(source, 'description') };
  const type = own(source, 'type');
  const preset = own(source, 'default');
  switch (type) {
    case 'string': {
      const bounds = numbers(source, ['minLength', 'maxLength'], isCount);
      const choices = choicesOf(source, 'oneOf');
      if (typeof bounds === 'string') return bounds;
      if (typeof choices === 'string') return choices;
      const base = { type, ...labels, ...bounds, ...choices, ...format(source) } as const;
      return typeof preset === 'string' ? { ...base, default: preset } : base;
    }
    case 'number':
    case 'integer': {
      const bounds = numbers(source, ['minimum', 'maximum'], isFiniteNumber);
      if (typeof bounds === 'string') return bounds;
      const base = { type, ...labels, ...bounds } as const;
      return typeof preset === 'number' && Number.isFinite(preset) ? { ...base, default: preset } : base;
    }
    case 'boolean':
      return { type, ...labels, ...(typeof preset === 'boolean' && { default: preset }) };
    case 'array': {
      const bounds = numbers(source, ['minItems', 'maxItems'], isCount);
      if (typeof bounds === 'string') return bounds;
      const items = own(source, 'items');
      if (isObject(items) && refersElsewhere(items)) return REFERS_ELSEWHERE;
      const choices = isObject(items) ? choicesOf(items, 'anyOf') : {};
      if (typeof choices === 'string') return choices;
      const base = { type, ...labels, ...bounds };
      const chosen = isTexts(preset) ? { default: [...preset] } : {};
      if (choices.enum !== undefined)
        return { ...base, items: { type: 'string', enum: choices.enum }, ...chosen };
      if (choices.anyOf !== undefined) return { ...base, items: { anyOf: choices.anyOf }, ...chosen };
      return 'is a list of something else than choices';
    }
    default:
      return 'is not a text, a number, a yes or no, or a choice';
  }
}

const REFERS_ELSEWHERE = 'refers to a schema elsewhere';

function refersElsewhere(source: JsonObject): boolean {
  return ['$ref', '$dynamicRef'].some((name) => {
    const reference = own(source, name);
    return reference !== undefined && !(typeof reference === 'string' && reference.startsWith('#'));
  });
}

function text(source: JsonObject, name: string): Record<string, string> {
  const value = own(source, name);
  return typeof value === 'string' ? { [name]: value } : {};
}

const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

function format(source: JsonObject): { format?: (typeof FORMATS)[number] } {
  const known = FORMATS.find((name) => name === own(source, 'format'));
  return known === undefined ? {} : { format: known };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isFiniteNumber(value: number): boolean {
  return Number.isFinite(value);
}

function numbers(
  source: JsonObject,
  names: readonly string[],
  fits: (value: number) => boolean,
): Record<string, number> | string {
  const result: Record<string, number> = {};
  for (const name of names) {
    const value = own(source, name);
    if (value === undefined) continue;
    if (typeof value !== 'number' || !fits(value)) return `has a ${name} that is none`;
    result[name] = value;
  }
  return result;
}

interface Option {
  readonly const: string;
  readonly title: string;
}

interface Choices {
  readonly enum?: readonly string[];
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly Option[];
  readonly anyOf?: readonly Option[];
}

/** Choices with titles under `titled`, or without under `enum`, to which older servers add `enumNames`. */
function choicesOf(source: JsonObject, titled: 'oneOf' | 'anyOf'): Choices | string {
  const options = own(source, titled);
  if (options !== undefined) {
    if (!Array.isArray(options) || options.length === 0)
      return `has a ${titled} that is not a list of choices`;
    const read: Option[] = [];
    for (const option of options as readonly unknown[]) {
      const value = isObject(option) ? own(option, 'const') : undefined;
      const title = isObject(option) ? own(option, 'title') : undefined;
      if (typeof value !== 'string') return `has a ${titled} that is not a list of choices`;
      read.push({ const: value, title: typeof title === 'string' ? title : value });
    }
    return { [titled]: read };
  }
  const values = own(source, 'enum');
  if (values === undefined) return {};
  if (!isTexts(values) || values.length === 0) return 'has an enum that is not a list of texts';
  const names = own(source, 'enumNames');
  return {
    enum: [...values],
    ...(titled === 'oneOf' && isTexts(names) && names.length === values.length && { enumNames: [...names] }),
  };
}
