import { InvalidQuestion } from '../errors.js';
import type { FormField, RestrictedSchema } from '../form/index.js';
import { isStandardSchema, type StandardSchema } from './standard-schema.js';

/** What `elicit` and `form` take: a Standard Schema that can give JSON Schema, or the restricted form itself. */
export type FormSchema = StandardSchema | RestrictedSchema;

type FieldContent<F> = F extends { readonly type: 'string' }
  ? F extends { readonly enum: readonly (infer E)[] }
    ? E
    : F extends { readonly oneOf: readonly { readonly const: infer C }[] }
      ? C
      : string
  : F extends { readonly type: 'number' | 'integer' }
    ? number
    : F extends { readonly type: 'boolean' }
      ? boolean
      : F extends { readonly type: 'array'; readonly items: infer I }
        ? I extends { readonly enum: readonly (infer E)[] }
          ? E[]
          : I extends { readonly anyOf: readonly { readonly const: infer C }[] }
            ? C[]
            : string[]
        : never;

type RequiredNames<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

type RestrictedContent<S extends RestrictedSchema> = {
  -readonly [K in keyof S['properties'] as K extends RequiredNames<S> ? K : never]: FieldContent<
    S['properties'][K]
  >;
} & {
  -readonly [K in keyof S['properties'] as K extends RequiredNames<S> ? never : K]?: FieldContent<
    S['properties'][K]
  >;
};

/** The type of the content that a form with schema `S` gives. */
export type FormContent<S extends FormSchema> =
  S extends StandardSchema<unknown, infer Output>
    ? Output
    : S extends RestrictedSchema
      ? { [K in keyof RestrictedContent<S>]: RestrictedContent<S>[K] }
      : never;

/**
 * Converting a schema costs more than a whole round, so it is done once each. A Standard Schema does not change and
 * is known by its identity; a JSON Schema is an object like any other, and is known by its text.
 */
const byIdentity = new WeakMap<object, RestrictedSchema>();
const byText = new Map<string, RestrictedSchema>();

/** Schemas that are made anew with each request, with choices of its own, must not fill the memory. */
const MAX_TEXTS = 1_000;

/**
 * The restricted form of a schema, as it goes to the client.
 *
 * @throws InvalidQuestion when it asks for what the protocol does not allow: nesting, patterns, exclusive
 * bounds, unknown formats, or a secret (FORM-08 to FORM-21).
 */
export function restrictedSchema(key: string, schema: FormSchema): RestrictedSchema {
  if (typeof schema !== 'object' || schema === null) throw new InvalidQuestion(key, 'it has no schema');
  if (!isStandardSchema(schema)) return restrictedByText(key, schema);
  const known = byIdentity.get(schema);
  if (known !== undefined) return known;
  const result = restrict(key, jsonSchemaOf(key, schema), true);
  byIdentity.set(schema, result);
  return result;
}

function restrictedByText(key: string, schema: RestrictedSchema): RestrictedSchema {
  const text = textOf(key, schema);
  const known = byText.get(text);
  if (known !== undefined) return known;
  // From the text, so that nothing of it is shared with an object that may change.
  const result = restrict(key, JSON.parse(text) as Record<string, unknown>, false);
  if (byText.size >= MAX_TEXTS) byText.clear();
  byText.set(text, result);
  return result;
}

function textOf(key: string, schema: RestrictedSchema): string {
  try {
    return JSON.stringify(schema);
  } catch {
    throw new InvalidQuestion(key, 'its schema is not JSON');
  }
}

function jsonSchemaOf(key: string, schema: StandardSchema): Record<string, unknown> {
  const convert = schema['~standard'].jsonSchema;
  if (convert === undefined) {
    const vendor = schema['~standard'].vendor;
    throw new InvalidQuestion(
      key,
      `its schema library (${vendor}) cannot give JSON Schema; use zod 4.2 or later, or pass the restricted JSON Schema`,
    );
  }
  try {
    return convert.input({ target: 'draft-2020-12' });
  } catch (error) {
    throw new InvalidQuestion(
      key,
      `its schema has no JSON Schema form (${error instanceof Error ? error.message : 'unknown'})`,
    );
  }
}

function restrict(key: string, json: Record<string, unknown>, converted: boolean): RestrictedSchema {
  if (json['type'] !== 'object' || !isObject(json['properties'])) {
    throw new InvalidQuestion(key, 'its schema must describe an object with properties');
  }
  const unknown = Object.keys(json).filter((name) => !ROOT_MEMBERS.has(name) && !ANNOTATIONS.has(name));
  if (unknown.length > 0)
    throw new InvalidQuestion(key, `its schema uses ${unknown.join(', ')}, which forms do not have`);
  checkDialect(key, json['$schema']);
  const properties: Record<string, FormField> = {};
  for (const [name, field] of Object.entries(json['properties'])) {
    if (name === '__proto__') throw new InvalidQuestion(key, `a field cannot be named '__proto__'`);
    refuseSecrets(key, name);
    if (!isObject(field)) throw new InvalidQuestion(key, `field '${name}' is not a schema`);
    properties[name] = restrictField(key, name, field, converted);
  }
  const required = json['required'];
  if (required === undefined) return { type: 'object', properties };
  if (
    !Array.isArray(required) ||
    !required.every((name) => typeof name === 'string' && Object.hasOwn(properties, name))
  ) {
    throw new InvalidQuestion(key, 'required names fields that are not in properties');
  }
  return required.length === 0
    ? { type: 'object', properties }
    : { type: 'object', properties, required: required as string[] };
}

/** An unsupported dialect is an error, not a schema that is read in another way (CORE-24). */
function checkDialect(key: string, dialect: unknown): void {
  if (dialect !== undefined && dialect !== 'https://json-schema.org/draft/2020-12/schema') {
    throw new InvalidQuestion(key, 'its schema is in a dialect other than JSON Schema 2020-12');
  }
}

const ROOT_MEMBERS = new Set(['$schema', 'type', 'properties', 'required', 'additionalProperties']);

/** Members that say nothing about validity; schema libraries add them, forms do not have them. */
const ANNOTATIONS = new Set([
  '$comment',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'title',
  'description',
  'id',
]);

const FORMATS = new Set(['email', 'uri', 'date', 'date-time']);

const FIELD_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  string: new Set(['minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf', 'default']),
  number: new Set(['minimum', 'maximum', 'default']),
  integer: new Set(['minimum', 'maximum', 'default']),
  boolean: new Set(['default']),
  array: new Set(['minItems', 'maxItems', 'items', 'default']),
};

function restrictField(
  key: string,
  name: string,
  source: Record<string, unknown>,
  converted: boolean,
): FormField {
  const field = converted ? plainField(source) : { ...source };
  const type = field['type'];
  const allowed =
    typeof type === 'string' && Object.hasOwn(FIELD_MEMBERS, type) ? FIELD_MEMBERS[type] : undefined;
  if (typeof type !== 'string' || allowed === undefined) {
    throw new InvalidQuestion(key, `field '${name}' is not a text, number, boolean or choice`);
  }
  const result: Record<string, unknown> = { type };
  for (const [member, value] of Object.entries(field)) {
    if (member === 'type' || value === undefined) continue;
    if (member === 'title' || member === 'description') {
      if (typeof value !== 'string')
        throw new InvalidQuestion(key, `field '${name}' has a ${member} that is not a text`);
      result[member] = value;
    } else if (allowed.has(member)) {
      result[member] = value;
    } else if (!ANNOTATIONS.has(member)) {
      throw new InvalidQuestion(key, `field '${name}' uses ${member}, which forms do not have`);
    }
  }
  checkField(key, name, result);
  return result as unknown as FormField;
}

/** Undoes what schema libraries add on their own: bounds of safe integers, patterns of known formats, unions of literals. */
function plainField(source: Record<string, unknown>): Record<string, unknown> {
  const field = { ...source };
  if (field['type'] === 'integer') {
    if (field['minimum'] === Number.MIN_SAFE_INTEGER) delete field['minimum'];
    if (field['maximum'] === Number.MAX_SAFE_INTEGER) delete field['maximum'];
  }
  if (typeof field['format'] === 'string' && FORMATS.has(field['format'])) delete field['pattern'];
  if (typeof field['const'] === 'string') {
    field['enum'] = [field['const']];
    field['type'] = 'string';
    delete field['const'];
  }
  const literals = field['anyOf'];
  if (
    Array.isArray(literals) &&
    literals.every((item) => isObject(item) && typeof item['const'] === 'string')
  ) {
    const options = literals as { const: string; title?: unknown }[];
    delete field['anyOf'];
    field['type'] = 'string';
    if (options.every((option) => typeof option.title === 'string')) {
      field['oneOf'] = options.map((option) => ({ const: option.const, title: option.title }));
    } else {
      field['enum'] = options.map((option) => option.const);
    }
  }
  return field;
}

function checkField(key: string, name: string, field: Record<string, unknown>): void {
  const fault = (reason: string): never => {
    throw new InvalidQuestion(key, `field '${name}' ${reason}`);
  };
  for (const bound of ['minLength', 'maxLength', 'minItems', 'maxItems']) {
    const value = field[bound];
    if (value !== undefined && !(Number.isInteger(value) && (value as number) >= 0))
      fault(`has a ${bound} that is not a count`);
  }
  for (const bound of ['minimum', 'maximum']) {
    if (field[bound] !== undefined && !Number.isFinite(field[bound]))
      fault(`has a ${bound} that is not a number`);
  }
  const format = field['format'];
  if (format !== undefined && !(typeof format === 'string' && FORMATS.has(format))) {
    fault(`has a format that forms do not have (email, uri, date, date-time)`);
  }
  if (field['enum'] !== undefined && !isTexts(field['enum']))
    fault('has an enum that is not a list of texts');
  if (field['oneOf'] !== undefined && !isTitled(field['oneOf']))
    fault('has a oneOf that is not a list of const and title');
  const names = field['enumNames'];
  if (
    names !== undefined &&
    !(isTexts(names) && isTexts(field['enum']) && names.length === field['enum'].length)
  ) {
    fault('has enumNames that do not match its enum');
  }
  if (field['type'] === 'array') checkChoices(field, fault);
  const preset = field['default'];
  if (preset !== undefined && !matchesType(field['type'], preset)) fault('has a default of another type');
}

function checkChoices(field: Record<string, unknown>, fault: (reason: string) => never): void {
  const items = field['items'];
  if (isObject(items)) {
    if (items['type'] === 'string' && isTexts(items['enum']) && Object.keys(items).length === 2) return;
    if (isTitled(items['anyOf']) && Object.keys(items).length === 1) return;
  }
  fault(
    'is a list of something else than choices (items needs an enum of texts, or anyOf with const and title)',
  );
}

function matchesType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'integer':
      return Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
}

function isTitled(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (item) => isObject(item) && typeof item['const'] === 'string' && typeof item['title'] === 'string',
    )
  );
}

/** Words that name a secret wherever they stand in a field's name. */
const SECRET_WORDS = new Set(['password', 'passwd', 'passphrase', 'apikey', 'cvv', 'cvc']);
/** Words that name one at the end: `apiToken` and `card`, not `tokenCount` and `cardColor`. */
const SECRET_ENDINGS = new Set(['pwd', 'passcode', 'secret', 'token', 'card']);
const SECRET_PAIRS = new Set([
  'api key',
  'private key',
  'access key',
  'card number',
  'credit card',
  'debit card',
]);

/** Secrets go by URL, never by form (client/elicitation, "Form Mode Security" 1; FORM-21). */
function refuseSecrets(key: string, name: string): void {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  const pairs = words.slice(1).map((word, index) => `${words[index]} ${word}`);
  const isSecret =
    words.some((word) => SECRET_WORDS.has(word)) ||
    SECRET_ENDINGS.has(words.at(-1) ?? '') ||
    pairs.some((pair) => SECRET_PAIRS.has(pair));
  if (isSecret) {
    throw new InvalidQuestion(
      key,
      `field '${name}' asks for a secret, which must not pass through the client; use flow.elicitUrl`,
    );
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
