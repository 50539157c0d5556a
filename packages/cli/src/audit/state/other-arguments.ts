import type { AuditContext } from '../attack.js';
import type { Json, JsonObject } from '../wire/message.js';
import { isObject } from '../wire/response.js';

/** Arguments that differ in one field from those the flow began with. */
export interface OtherArguments {
  readonly field: string;
  readonly changed: JsonObject;
}

const MOST_FIELDS = 4;

/** The tool's arguments with one field changed at a time, or an optional one added, within the schema. */
export function otherArguments({
  arguments: given,
  inputSchema,
}: Pick<AuditContext['tool'], 'arguments' | 'inputSchema'>): readonly OtherArguments[] {
  const properties = inputSchema?.['properties'];
  const fields = isObject(properties) ? properties : {};
  const names = [...new Set([...Object.keys(given), ...Object.keys(fields)])];
  return names
    .flatMap((field) => {
      const value = otherValue(given[field], fields[field]);
      return value === undefined ? [] : [{ field, changed: { ...given, [field]: value } }];
    })
    .slice(0, MOST_FIELDS);
}

/** Another value of the same kind; undefined where none is sure to fit. */
function otherValue(value: Json | undefined, schema: Json | undefined): Json | undefined {
  const { enum: choices, const: only, pattern, format, ...limits } = isObject(schema) ? schema : {};
  if (only !== undefined) return undefined;
  if (Array.isArray(choices)) return (choices as readonly Json[]).find((choice) => choice !== value);
  const like = value ?? sampleOf(limits['type']);
  if (typeof like === 'boolean') return !like;
  if (typeof like === 'number') return otherNumber(like, limits);
  const isFree = pattern === undefined && format === undefined;
  return typeof like === 'string' && isFree ? otherText(like, limits) : undefined;
}

/** Of an argument that was not given, what the other value differs from. */
function sampleOf(type: Json | undefined): Json | undefined {
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 0;
  return type === 'string' ? '' : undefined;
}

function otherNumber(
  value: number,
  { minimum, maximum, multipleOf = 1, ...limits }: JsonObject,
): Json | undefined {
  if (limits['exclusiveMinimum'] !== undefined || limits['exclusiveMaximum'] !== undefined) return undefined;
  const step = Number(multipleOf);
  return [value + step, value - step].find(
    (other) => other >= Number(minimum ?? -Infinity) && other <= Number(maximum ?? Infinity),
  );
}

function otherText(value: string, { minLength = 0, maxLength = Infinity }: JsonObject): Json | undefined {
  const swapped = value.slice(0, -1) + (value.endsWith('x') ? 'y' : 'x');
  const longer = `${value}x`.padEnd(Number(minLength), 'x');
  return [longer, swapped].find(({ length }) => length <= Number(maxLength) && length >= Number(minLength));
}
