import type { Caller, WireRequest } from './message.js';

/** The revision that an audit speaks. */
export const PROTOCOL_VERSION = '2026-07-28';

/** Headers that make a caller who they are; secrets. */
export type CallerHeaders = readonly (readonly [name: string, value: string])[];

/** Who can be told apart, and by what. `anonymous` has none. */
export type HeadersOfCallers = Readonly<Partial<Record<Caller, CallerHeaders>>>;

/** Shorter parts of a value, as `session` of a cookie's, stand in other texts too. */
const SHORTEST_PART = 8;

/** What must not be shown of the value of a caller's header: it, what follows a scheme, and the parts that are secret by themselves. */
export function secretsOfHeader(value: string): readonly string[] {
  const [, scheme, credentials] = /^(\S+)\s+(\S+)$/.exec(value) ?? [];
  const basic = /^basic$/i.test(scheme ?? '') ? Buffer.from(credentials ?? '', 'base64').toString() : '';
  const parts = [...value.split(/[\s;,=]+/), basic, ...basic.split(':')];
  return [
    ...new Set([value, credentials ?? value, ...parts.filter(({ length }) => length >= SHORTEST_PART)]),
  ];
}

/** The header of a caller whose value stands in a text, by its name; undefined if none does, or all are too short to say. */
export function headerIn(text: string, callers: HeadersOfCallers): string | undefined {
  return Object.values(callers)
    .flat()
    .find(([, value]) =>
      secretsOfHeader(value).some((secret) => secret.length >= SHORTEST_PART && text.includes(secret)),
    )?.[0];
}

/**
 * Writes a text as the value of a header: as it is, or as base64 of its UTF-8 where HTTP could not carry it, or it
 * would be read as such (HTTP, Value Encoding, METH-15).
 */
export function headerValue(text: string): string {
  const isPlain =
    /^[\t\u0020-\u007e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The headers of a request's caller, but for those that the request sets itself. */
export function callerHeadersOf(
  { caller, headers = {} }: WireRequest,
  callers: HeadersOfCallers,
): CallerHeaders {
  const changed = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return (callers[caller] ?? []).filter(([name]) => !changed.has(name.toLowerCase()));
}

/** The headers that the protocol wants of a request (METH-08, METH-10, METH-11), and those that the request changes. */
export function headersOf({ method, params, headers = {} }: WireRequest): Map<string, string> {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const all = new Map([
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream'],
    ['MCP-Protocol-Version', PROTOCOL_VERSION],
    ['Mcp-Method', headerValue(method)],
  ]);
  if (typeof name === 'string') all.set('Mcp-Name', headerValue(name));
  for (const [changed, value] of Object.entries(headers)) {
    const same = [...all.keys()].find((each) => each.toLowerCase() === changed.toLowerCase());
    if (same !== undefined) all.delete(same);
    if (value !== null) all.set(changed, value);
  }
  return all;
}
