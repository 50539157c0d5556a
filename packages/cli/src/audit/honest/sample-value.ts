import type { Json, JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

/** Deeper schemas are recursive. */
const MOST_DEPTH = 12;

/** A schema that refers to itself more than once grows without end: so many values are made, and so many characters. */
const MOST_VALUES = 2000;
const MOST_CHARACTERS = 200_000;

/** What may still be made. */
interface Allowance {
  values: number;
  characters: number;
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: '2030-01-15',
  'date-time': '2030-01-15T12:00:00Z',
  time: '12:00:00Z',
  email: 'audit@example.com',
  uri: 'https://example.com/audit',
  url: 'https://example.com/audit',
  uuid: '00000000-0000-4000-8000-000000000000',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

/**
 * A value that fits a JSON schema, the same each time: defaults, the first of several, the least of a range, members
 * that are required. A pattern is not heeded.
 */
export function sampleValue(schema: Json | undefined, root: Json | undefined = schema): Json {
  return valueOf(schema, root, { values: MOST_VALUES, characters: MOST_CHARACTERS });
}

function valueOf(schema: Json | undefined, root: Json | undefined, left: Allowance, depth = 0): Json {
  left.values -= 1;
  if (!isObject(schema) || depth > MOST_DEPTH || left.values < 0) return 'audit';
  const further = (inner: Json | undefined): Json => valueOf(inner, root, left, depth + 1);
  const { $ref, allOf, examples } = schema;
  if (typeof $ref === 'string') return further(referred($ref, root));
  if (schema['const'] !== undefined) return schema['const'];
  // A yes or no is there to be said yes to, or the flow ends.
  if (schema['type'] === 'boolean') return true;
  if (schema['default'] !== undefined) return schema['default'];
  for (const values of [schema['enum'], examples]) {
    if (isList(values) && values[0] !== undefined) return values[0];
  }
  for (const choices of [schema['oneOf'], schema['anyOf']]) {
    if (!isList(choices)) continue;
    const first = choices.find((choice) => isObject(choice) && choice['type'] !== 'null');
    // Choices of an object often only say which members are required: what stands beside them holds as well.
    if (isObject(first)) return further({ ...without(schema, 'oneOf', 'anyOf'), ...first });
  }
  if (isList(allOf)) return further(merged([without(schema, 'allOf'), ...allOf.filter(isObject)]));
  return byType(schema, further, left);
}

function byType(schema: JsonObject, further: (inner: Json | undefined) => Json, left: Allowance): Json {
  const { type } = schema;
  const name = isList(type) ? type.find((each) => each !== 'null') : type;
  switch (typeof name === 'string' ? name : 'none') {
    case 'number':
    case 'integer':
      return sampleNumber(schema, name === 'integer');
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return sampleList(schema, further);
    case 'string':
      return sampleText(schema, left);
    default:
      return name === 'object' || isObject(schema['properties'])
        ? sampleObject(schema, further)
        : sampleText(schema, left);
  }
}

function sampleText({ format, minLength, maxLength }: JsonObject, left: Allowance): string {
  const text = (typeof format === 'string' ? BY_FORMAT[format] : undefined) ?? 'audit';
  const least = typeof minLength === 'number' ? Math.min(minLength, left.characters) : 0;
  const padded = text.length < least ? text.padEnd(least, 'audit') : text;
  left.characters = Math.max(0, left.characters - padded.length);
  return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded;
}

function sampleNumber(schema: JsonObject, isInteger: boolean): number {
  const bound = (name: string): number | undefined => {
    const value = schema[name];
    return typeof value === 'number' ? value : undefined;
  };
  const above = bound('exclusiveMinimum');
  const below = bound('exclusiveMaximum');
  const most = bound('maximum') ?? (below === undefined ? undefined : below - (isInteger ? 1 : 0.001));
  const least = bound('minimum') ?? (above === undefined ? undefined : above + (isInteger ? 1 : 0.001));
  const value = least ?? Math.min(1, most ?? 1);
  const rounded = isInteger ? Math.ceil(value) : value;
  const step = bound('multipleOf');
  return step === undefined || step <= 0 ? rounded : Math.ceil(rounded / step) * step;
}

function sampleList({ items, minItems }: JsonObject, further: (inner: Json | undefined) => Json): Json {
  const count = typeof minItems === 'number' ? Math.min(minItems, 100) : 0;
  const choices = isObject(items) ? (items['enum'] ?? items['anyOf'] ?? items['oneOf']) : undefined;
  // Items of a choice are to differ.
  const values = isList(choices) ? choices.map((each) => (isObject(each) ? further(each) : each)) : [];
  return Array.from({ length: count }, (_, index) => values[index] ?? further(items));
}

/** The members that are required, and those that have a default. */
function sampleObject(
  { properties, required }: JsonObject,
  further: (inner: Json | undefined) => Json,
): JsonObject {
  const all = isObject(properties) ? properties : {};
  const needed = new Set(isList(required) ? required : []);
  const isOnly = Object.keys(all).length === 1;
  const members = Object.entries(all).flatMap(([name, schema]): [string, Json][] => {
    if (needed.has(name)) return [[name, further(schema)]];
    if (!isObject(schema)) return [];
    // The only field of a form is what it is about, required or not.
    if (isOnly && schema['type'] === 'boolean') return [[name, true]];
    return schema['default'] === undefined ? [] : [[name, schema['default']]];
  });
  const undeclared = [...needed].flatMap((name): [string, Json][] =>
    typeof name === 'string' && !Object.hasOwn(all, name) ? [[name, 'audit']] : [],
  );
  return Object.fromEntries([...members, ...undeclared]);
}

function referred(reference: string, root: Json | undefined): Json | undefined {
  if (!reference.startsWith('#')) return undefined;
  let at = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

function merged(schemas: readonly JsonObject[]): JsonObject {
  const properties = schemas.map((each) => each['properties']).filter(isObject);
  const required = schemas.flatMap((each) => (isList(each['required']) ? each['required'] : []));
  return { ...joined(schemas), properties: joined(properties), required };
}

function joined(objects: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(objects.flatMap((each) => Object.entries(each)));
}

function without(schema: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)));
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
