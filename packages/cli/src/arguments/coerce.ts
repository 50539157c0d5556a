import { isJsonObject } from '../json-input.js';
import type { Parameter, ParameterType } from './parameter.js';

/** A value, or what it should have been. */
export type Coerced =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly expected: string };

/**
 * Makes of a typed text what a parameter takes. Where it may be a text, it is one, whatever it looks like: `5` becomes
 * a number only where nothing else fits.
 */
export function coerce(text: string, { types, choices }: Parameter): Coerced {
  if (choices !== undefined) {
    const found = choices.find(
      (choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice)) === text,
    );
    return found === undefined
      ? { ok: false, expected: `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}` }
      : { ok: true, value: found };
  }
  if (types.length === 0 || types.includes('string')) return { ok: true, value: text };
  for (const type of types) {
    const value = READERS[type](text);
    if (value !== undefined) return { ok: true, value };
  }
  return { ok: false, expected: types.map((type) => EXPECTED[type]).join(' or ') };
}

const EXPECTED: Readonly<Record<ParameterType, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list as JSON, [ … ]',
  object: 'an object as JSON, { … }',
};

const READERS: Readonly<Record<ParameterType, (text: string) => unknown>> = {
  string: (text) => text,
  integer: (text) => {
    const value = readNumber(text);
    return Number.isSafeInteger(value) ? value : undefined;
  },
  number: readNumber,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  array: (text) => {
    const value = readJson(text);
    return Array.isArray(value) ? value : undefined;
  },
  object: (text) => {
    const value = readJson(text);
    return isJsonObject(value) ? value : undefined;
  },
};

/** A number as JSON writes it. `Number` alone takes `''`, `0x10` and ` 5 ` as well. */
function readNumber(text: string): number | undefined {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
