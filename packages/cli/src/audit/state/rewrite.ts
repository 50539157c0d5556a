import { createHmac } from 'node:crypto';
import type { Edit } from './mutate.js';
import { peel } from './peel.js';

/** Enough for what a flow keeps; a larger state is not rewritten whole. */
const MAX_FIELDS = 24;

type Path = readonly (string | number)[];

/** A readable state with each of its values changed, one at a time, in the same encoding. None for an opaque state. */
export function rewritingsOf(state: string): readonly Edit[] {
  return peel(state).flatMap(({ value, withValue }) =>
    scalarsOf(value)
      .slice(0, MAX_FIELDS)
      .map(({ path, scalar }) => ({
        what: path.length === 0 ? 'its text changed' : `\`${path.join('.')}\` changed`,
        state: withValue(replaced(value, path, changed(scalar))),
      })),
  );
}

/** A JWT that is not signed, or signed with a key that everybody knows. None for a state that is no JWT. */
export function jwtForgeriesOf(state: string): readonly Edit[] {
  const [header, payload, ...rest] = state.split('.');
  if (header === undefined || payload === undefined || rest.length !== 1) return [];
  const head = peel(`${header}.x`).find(({ part }) => part === 0)?.value;
  if (!isRecord(head) || typeof head['alg'] !== 'string') return [];
  const withAlg = (alg: string): string =>
    `${Buffer.from(JSON.stringify({ ...head, alg })).toString('base64url')}.${payload}`;
  return [
    ...['none', 'None', 'NONE'].map((alg) => ({ what: `with alg "${alg}"`, state: `${withAlg(alg)}.` })),
    ...['', 'secret'].map((key) => ({
      what: `signed with the key "${key}"`,
      state: `${withAlg('HS256')}.${createHmac('sha256', key).update(withAlg('HS256')).digest('base64url')}`,
    })),
  ];
}

/** The names of all values in a readable state. */
export function fieldsOf(value: unknown): readonly string[] {
  return scalarsOf(value)
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => path.join('.'));
}

/** All values that hold no others, with where they are. */
export function scalarsOf(value: unknown, path: Path = []): readonly { path: Path; scalar: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => scalarsOf(item, [...path, at]));
  if (isRecord(value)) return Object.entries(value).flatMap(([key, item]) => scalarsOf(item, [...path, key]));
  return [{ path, scalar: value }];
}

function replaced(value: unknown, [key, ...rest]: Path, scalar: unknown): unknown {
  if (key === undefined) return scalar;
  if (Array.isArray(value))
    return value.map((item: unknown, at) => (at === key ? replaced(item, rest, scalar) : item));
  return isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, item]) => [
          name,
          name === key ? replaced(item, rest, scalar) : item,
        ]),
      )
    : value;
}

/** Another value of the same kind. */
function changed(scalar: unknown): unknown {
  if (typeof scalar === 'number') return scalar + 1;
  if (typeof scalar === 'bigint') return scalar + 1n;
  if (typeof scalar === 'boolean') return !scalar;
  if (typeof scalar !== 'string') return true;
  return /^\d{1,15}$/.test(scalar) ? String(Number(scalar) + 1) : swapped(scalar);
}

/** Another word; the ones that give rights become those that give more. */
function swapped(text: string): string {
  return /^(user|member|guest|reader)$/i.test(text) ? 'admin' : `${text}x`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
  );
}
