import { isJsonObject, parseJsonObject, type JsonObject } from '../json-input.js';
import { nearNames } from '../near.js';
import { WrongUse } from '../outcome.js';
import { harmlessLine } from '../safe-text.js';
import { readTextFile } from '../text-input.js';
import type { Assignment } from './assignment.js';
import { coerce } from './coerce.js';
import { describeParameter, parametersOf, type Parameter } from './parameter.js';

/** What a person gave as the arguments of a tool. */
export interface GivenArguments {
  readonly assignments: readonly Assignment[];
  /** The whole object (`--json`), if it was given. */
  readonly whole?: JsonObject;
}

/**
 * Reads what `--json` names: an object, `-` for stdin, or `@` and a file.
 *
 * @throws WrongUse when it is no JSON object.
 */
export async function readWhole(
  text: string | undefined,
  readStdin: () => Promise<string>,
): Promise<JsonObject | undefined> {
  if (text === undefined) return undefined;
  if (text === '-') return parseJsonObject(await readStdin(), 'stdin');
  if (!text.startsWith('@')) return parseJsonObject(text, 'What follows --json');
  const path = text.slice(1);
  return parseJsonObject(await readTextFile(path), harmlessLine(path));
}

/**
 * The arguments of a tool. A `name=value` becomes what the tool's schema says, and wins over the whole object.
 *
 * What the whole object holds is sent as it is: the server is the judge of it. Without one, names that the tool does
 * not have, and parameters that are missing, are told before anything is called.
 *
 * @returns an object whose members are its own, `__proto__` too
 * @throws WrongUse naming the parameters that the tool has.
 */
export function toolArguments(
  tool: { readonly name: string; readonly inputSchema: JsonObject },
  { assignments, whole }: GivenArguments,
): JsonObject {
  const parameters = parametersOf(tool.inputSchema);
  const fault = (reason: string): never => {
    throw new WrongUse(`${reason}\n${describeAll(tool.name, parameters)}`);
  };
  const { additionalProperties } = tool.inputSchema;
  const isOpen = whole !== undefined || additionalProperties === true || isJsonObject(additionalProperties);
  const values = new Map<string, unknown>(Object.entries(whole ?? {}));
  for (const assignment of assignments) {
    const { name } = assignment;
    const parameter = parameters.find((each) => each.name === name);
    if (parameter === undefined && !isOpen) fault(unknownName(name, parameters));
    if (assignment.type === 'json') {
      values.set(name, assignment.value);
      continue;
    }
    const value =
      parameter === undefined
        ? ({ ok: true, value: assignment.text } as const)
        : coerce(assignment.text, parameter);
    if (value.ok) values.set(name, value.value);
    else fault(`'${harmlessLine(name)}' is to be ${harmlessLine(value.expected)}.`);
  }
  const missing = parameters.filter(({ name, isRequired }) => isRequired && !values.has(name));
  if (whole === undefined && missing.length > 0) {
    fault(`Missing: ${missing.map(({ name }) => harmlessLine(name)).join(', ')}.`);
  }
  // fromEntries defines members; it never assigns them.
  return Object.fromEntries(values);
}

function unknownName(name: string, parameters: readonly Parameter[]): string {
  const near = nearNames(
    name,
    parameters.map((parameter) => parameter.name),
  );
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map(harmlessLine).join(' or ')}?`;
  return `There is no parameter '${harmlessLine(name)}'.${hint}`;
}

function describeAll(tool: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return `${harmlessLine(tool)} takes no parameters.`;
  const lines = parameters.map((parameter) => `  ${describeParameter(parameter)}`);
  return `${harmlessLine(tool)} takes:\n${lines.join('\n')}`;
}
