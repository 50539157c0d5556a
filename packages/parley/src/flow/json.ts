import { NotJson } from '../errors.js';

/** A value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Maps a type to itself where JSON can hold it, and to `never` where it cannot (functions, dates, maps,
 * bigints, symbols), so that a step which returns such a thing does not compile.
 */
export type JsonCompatible<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined | void
    ? T
    : T extends bigint | symbol | ((...args: never[]) => unknown) | Date | RegExp
      ? never
      : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | Promise<unknown>
        ? never
        : T extends object
          ? { [K in keyof T]: JsonCompatible<T[K]> }
          : never;

/** Deeper results are refused: they would overflow the stack of whoever reads the state next. */
const MAX_DEPTH = 256;

/**
 * Checks that a step's result is JSON and copies it in the same walk, so that what the handler gets live is
 * exactly what a replay will give it: no shared references, no prototypes, no later mutation.
 *
 * @param key the step's key, for the error.
 * @throws NotJson naming the path of the first value that JSON would drop or change.
 */
export function recordable(key: string, value: unknown): Json {
  return copy(key, value, 'result', []);
}

function copy(key: string, value: unknown, path: string, parents: object[]): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(key, path, `the number ${String(value)}`);
      return value === 0 ? 0 : value; // JSON has no -0
    case 'object':
      return value === null ? null : copyObject(key, value, path, parents);
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      throw new NotJson(key, path, `a value of type ${typeof value}`);
  }
}

function copyObject(key: string, value: object, path: string, parents: object[]): Json {
  if (parents.includes(value)) throw new NotJson(key, path, 'a cycle');
  if (parents.length >= MAX_DEPTH) throw new NotJson(key, path, `nesting deeper than ${MAX_DEPTH}`);
  parents.push(value);
  let result: Json;
  if (Array.isArray(value)) {
    // `Array.from` visits holes, which `map` skips: a hole is an undefined that JSON turns into null.
    result = Array.from(value, (item: unknown, index) => copy(key, item, `${path}[${index}]`, parents));
  } else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      throw new NotJson(key, path, `an instance of ${className(value)}`);
    }
    const members: Record<string, Json> = {};
    for (const [name, member] of Object.entries(value)) {
      if (name === '__proto__') throw new NotJson(key, path, `a member named '__proto__'`);
      members[name] = copy(key, member, `${path}.${name}`, parents);
    }
    result = members;
  }
  parents.pop();
  return result;
}

function className(value: object): string {
  const constructor: unknown = value.constructor;
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'a class';
}
