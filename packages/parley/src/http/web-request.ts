import type { IncomingMessage } from 'node:http';

/**
 * The request as `ctx.http.req` has it. Its body was read before and is not there.
 *
 * @param signal aborts when the client hangs up.
 */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name.startsWith(':')) continue;
    for (const item of Array.isArray(value) ? value : [value]) headers.append(name, item);
  }
  const host = request.headers.host ?? 'localhost';
  return new Request(`http://${host}${request.url ?? '/'}`, {
    method: request.method ?? 'GET',
    headers,
    signal,
  });
}
