import { isJsonObject, type JsonObject } from '../json-input.js';
import { harmlessLine } from '../safe-text.js';

/** What JSON Schema calls types, without `null`, which nobody types. */
const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;

/** One of them. */
export type ParameterType = (typeof TYPES)[number];

/** A parameter of a tool, as far as its schema says. */
export interface Parameter {
  readonly name: string;
  /** What its value may be. Empty where the schema does not say. */
  readonly types: readonly ParameterType[];
  /** All values that it may have, if they are counted. */
  readonly choices: readonly unknown[] | undefined;
  readonly isRequired: boolean;
}

/** How deep references and unions are followed. */
const DEEPEST = 16;

/** More choices than these are counted, not listed. */
const MOST_CHOICES = 12;

/** The parameters that an input schema names, in its order. */
export function parametersOf(schema: JsonObject): Parameter[] {
  const properties = own(schema, 'properties');
  if (!isJsonObject(properties)) return [];
  const required = own(schema, 'required');
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.entries(properties).map(([name, property]) => {
    const { types, choices } = readValue(property, schema, 0);
    return { name, types: TYPES.filter((type) => types.has(type)), choices, isRequired: isRequired(name) };
  });
}

/** A parameter in a few words: `count: integer, required`. */
export function describeParameter({ name, types, choices, isRequired }: Parameter): string {
  const values = choices?.slice(0, MOST_CHOICES).map(choiceText);
  const rest = (choices?.length ?? 0) - (values?.length ?? 0);
  const kind =
    values === undefined
      ? types.join(' or ') || 'anything'
      : `one of ${values.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return `${harmlessLine(name)}: ${kind}${isRequired ? ', required' : ''}`;
}

/** A choice as it is typed: quoted only where that tells something. */
function choiceText(choice: unknown): string {
  return typeof choice === 'string' && /^[\w.:/-]+$/.test(choice)
    ? choice
    : harmlessLine(JSON.stringify(choice));
}

interface Value {
  readonly types: ReadonlySet<string>;
  readonly choices?: readonly unknown[];
}

/** What a value may be: by `type`, by the values that are listed, or by the branches of a union. */
function readValue(source: unknown, root: JsonObject, depth: number): Value {
  if (!isJsonObject(source) || depth > DEEPEST) return { types: new Set() };
  const reference = own(source, '$ref');
  if (typeof reference === 'string') return readValue(resolve(reference, root), root, depth + 1);
  const listed = own(source, 'enum');
  if (Array.isArray(listed)) return { types: new Set(listed.map(typeOf)), choices: listed };
  if (Object.hasOwn(source, 'const')) {
    return { types: new Set([typeOf(source['const'])]), choices: [source['const']] };
  }
  const type = own(source, 'type');
  if (typeof type === 'string') return { types: new Set([type]) };
  if (Array.isArray(type)) return { types: new Set(type.map(String)) };
  const branches = own(source, 'anyOf') ?? own(source, 'oneOf');
  if (!Array.isArray(branches)) return { types: new Set() };
  const values = branches.map((branch) => readValue(branch, root, depth + 1));
  // A branch that may be anything makes the whole anything.
  if (values.some(({ types }) => types.size === 0)) return { types: new Set() };
  const types = new Set(values.flatMap((value) => [...value.types]));
  const choices = values.flatMap((value) => value.choices ?? []);
  return values.every((value) => value.choices !== undefined) ? { types, choices } : { types };
}

/** What a local reference means. Nothing is ever fetched (CORE-25). */
function resolve(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    value = isJsonObject(value) ? own(value, name) : undefined;
  }
  return value;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return value === null ? 'null' : typeof value;
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
