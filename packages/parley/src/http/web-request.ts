import type { IncomingMessage } from 'node:http';

/** The authority that a request was sent to; HTTP/2 has it as a header of its own. */
function authorityOf({ headers }: IncomingMessage): string {
  return headers.host ?? headers[':authority']?.toString() ?? 'localhost';
}

/** The address that a request was sent to. */
function addressOf(request: IncomingMessage): string {
  return `http://${authorityOf(request)}${request.url ?? '/'}`;
}

/** Whether the address of a request is one that a web request can have. The SDK's entry answers others with 500. */
export function hasPlainAddress(request: IncomingMessage): boolean {
  // Before a path, an @ would make credentials of a host, and a web request has none.
  return (
    request.url?.startsWith('/') === true &&
    !authorityOf(request).includes('@') &&
    URL.canParse(addressOf(request))
  );
}

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
  return new Request(addressOf(request), {
    method: request.method ?? 'GET',
    headers,
    signal,
  });
}
