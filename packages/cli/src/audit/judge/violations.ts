import type { JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

/** An object that breaks a schema in one place. */
export interface Violation {
  /** What is wrong with it: "amount under its minimum". */
  readonly name: string;
  readonly value: JsonObject;
  /** By a keyword that 2020-12 lets a reader take as an annotation. */
  readonly isMild?: true;
}

/** Enough to know. */
const MOST = 12;

/** Breaks a flat schema in each way that is sure to be wrong, starting from an object that fits. */
export function violationsOf(schema: unknown, good: JsonObject): readonly Violation[] {
  if (!isObject(schema) || !isObject(schema['properties'])) return [];
  const { properties, required } = schema;
  const found: Violation[] = [];
  for (const name of Array.isArray(required) ? required : []) {
    const { [String(name)]: _left, ...rest } = good;
    found.push({ name: `${name} left out`, value: rest });
  }
  for (const [name, field] of Object.entries(properties)) {
    if (!isObject(field)) continue;
    for (const wrong of wrongValues(field)) {
      found.push({
        name: `${name} ${wrong.name}`,
        value: { ...good, [name]: wrong.value },
        ...(wrong.isMild && { isMild: true }),
      });
    }
  }
  if (schema['additionalProperties'] === false)
    found.push({ name: 'an extra member', value: { ...good, parleyAuditExtra: 'audit' } });
  return found.slice(0, MOST);
}

interface Wrong {
  readonly name: string;
  readonly value: JsonObject[string];
  readonly isMild?: true;
}

function wrongValues(field: JsonObject): readonly Wrong[] {
  const { type, minimum, maximum, minLength, maxLength, format, minItems } = field;
  const wrong: Wrong[] = [];
  if (type === 'string') wrong.push({ name: 'of another type', value: 12_345 });
  if (type === 'number' || type === 'integer' || type === 'boolean')
    wrong.push({ name: 'of another type', value: 'audit' });
  if (type === 'array') wrong.push({ name: 'of another type', value: 'audit' });
  if (Array.isArray(field['enum']) || Array.isArray(field['oneOf']))
    wrong.push({ name: 'none of the choices', value: 'parley-audit-no-choice' });
  if (typeof minimum === 'number') wrong.push({ name: 'under its minimum', value: minimum - 1 });
  if (typeof maximum === 'number') wrong.push({ name: 'over its maximum', value: maximum + 1 });
  if (type === 'integer') wrong.push({ name: 'with a fraction', value: Number(minimum ?? 0) + 0.5 });
  if (typeof minLength === 'number' && minLength > 0) wrong.push({ name: 'too short', value: '' });
  if (typeof maxLength === 'number' && maxLength < 10_000)
    wrong.push({ name: 'too long', value: 'a'.repeat(maxLength + 1) });
  if (typeof minItems === 'number' && minItems > 0) wrong.push({ name: 'with too few items', value: [] });
  if (format === 'email' || format === 'date' || format === 'date-time' || format === 'uri')
    wrong.push({ name: `no ${format}`, value: 'not a value of it', isMild: true });
  return wrong;
}
