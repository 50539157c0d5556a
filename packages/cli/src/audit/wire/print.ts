import { callerHeadersOf, headersOf, type HeadersOfCallers } from './http-headers.js';
import type { Caller, WireRequest } from './message.js';
import { writeJson } from './write-json.js';

/** Shell variables that stand for the values of a caller's headers. */
const VARIABLES: Readonly<Record<Caller, string>> = { main: 'AS', other: 'OTHER', anonymous: 'NOBODY' };

/**
 * A request as a curl line. The values of a caller's headers are `$AS` or `$OTHER`, the second of several `$AS_2`; a
 * state or answers that the request holds as the texts `$STATE` and `$ANSWERS` become variables of the shell.
 */
export function curlLine(url: string, request: WireRequest, callers: HeadersOfCallers): string {
  const own = callerHeadersOf(request, callers).map(([name], index) => {
    const variable = `${VARIABLES[request.caller]}${index === 0 ? '' : `_${index + 1}`}`;
    return `-H "${name}: $${variable}"`;
  });
  const headers = [...headersOf(request)].map(([name, value]) => `-H ${inQuotes(`${name}: ${value}`)}`);
  const body = inQuotes(jsonLine(request, 1))
    .replaceAll('"$STATE"', `"'"$STATE"'"`)
    .replaceAll('"$ANSWERS"', `'"$ANSWERS"'`);
  return ['curl -sS', ...headers, ...own, `--data-raw ${body}`, inQuotes(url)].join(' ');
}

/** A request as JSON-RPC. */
export function jsonLine({ method, params }: WireRequest, id: number): string {
  return writeJson({ jsonrpc: '2.0', id, method, params });
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
