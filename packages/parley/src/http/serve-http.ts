import type { McpServerFactory, VerifyBearerTokenOptions } from '@modelcontextprotocol/server';
import { once } from 'node:events';
import { createServer, type Server as HttpServer, type ServerResponse } from 'node:http';
import { authenticate } from './bearer.js';
import { Drain } from './drain.js';
import type { NodeRequest } from './forward.js';
import { guard, inUrl, isLoopback, type Guard } from './guard.js';
import { LONGEST_WAIT_MS } from './keep-alive.js';
import type { PooledHandlerOptions } from './options.js';
import { closeWithConnection } from './pipelined.js';
import { createPooledHandler, type PooledHandler } from './pooled-handler.js';
import { report } from './report.js';

/** How to serve. */
export interface ServeHttpOptions extends PooledHandlerOptions {
  /** Default 0: any that is free. */
  readonly port?: number;
  /** Address to listen on. Default `127.0.0.1`: this machine only. */
  readonly host?: string;
  /** Default `/mcp`. */
  readonly path?: string;
  /**
   * Names, without port, that clients may call the server by (`Host`). Default: those of the local machine when it
   * listens on loopback. Elsewhere nothing is checked unless this is given.
   */
  readonly allowedHosts?: readonly string[];
  /** Host names of web pages that may call the server (`Origin`), with the same default. */
  readonly allowedOrigins?: readonly string[];
  /** Verifies `Authorization: Bearer`; callers without a good token are refused. Default: anybody may call. */
  readonly auth?: VerifyBearerTokenOptions;
  /** How long `close` waits for requests that are under way, in ms. Default 10,000. */
  readonly drainMs?: number;
}

/** A server that listens. */
export interface HttpServing {
  /** Where clients connect to. */
  readonly url: string;
  readonly port: number;
  /** The handler behind it, for `notify` and `refresh`. */
  readonly handler: PooledHandler;
  /** Stops: takes no more connections, lets requests end, ends subscriptions. What is not over by then is aborted. */
  close(): Promise<void>;
}

/** After the handler was closed, connections get this long to take its last words, in ms. */
const LAST_WORDS_MS = 500;

/**
 * Serves a factory over HTTP with {@link createPooledHandler}.
 *
 * Streamable HTTP asks a server to check `Origin` and to listen on loopback only while it runs locally; both are so by
 * default. TLS, rate limits and OAuth's metadata are for what stands in front.
 *
 * @throws what listening fails with, as EADDRINUSE for a port that is taken; RangeError for a limit that is none.
 */
export async function serveHttp(
  factory: McpServerFactory,
  options: ServeHttpOptions = {},
): Promise<HttpServing> {
  const { port = 0, host = '127.0.0.1', path = '/mcp', drainMs = 10_000 } = options;
  checkPath(path);
  if (!(drainMs >= 0 && drainMs <= LONGEST_WAIT_MS))
    throw new RangeError(
      `drainMs must be a number of milliseconds from 0 to ${LONGEST_WAIT_MS}, got ${String(drainMs)}.`,
    );
  warnIfUnguarded(host, options);
  const handler = createPooledHandler(factory, options);
  const drain = new Drain();
  const door = guard({ host, allowedHosts: options.allowedHosts, allowedOrigins: options.allowedOrigins });
  const server = createServer((request, response) => {
    closeWithConnection(request, response);
    if (isRequestThatEnds(request)) drain.enter(response);
    answer(request, response, { handler, door, path, auth: options.auth }).catch((error: unknown) => {
      report(options.onerror, error);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'Internal server error');
    });
  });
  server.listen(port, host.replace(/^\[(.*)\]$/, '$1'));
  await once(server, 'listening');
  const bound = portOf(server);
  let closing: Promise<void> | undefined;
  return {
    url: `http://${inUrl(host)}:${bound}${path}`,
    port: bound,
    handler,
    close: () => (closing ??= stop(server, handler, drain, drainMs)),
  };
}

interface Behind {
  readonly handler: PooledHandler;
  readonly door: Guard;
  readonly path: string;
  readonly auth: VerifyBearerTokenOptions | undefined;
}

async function answer(request: NodeRequest, response: ServerResponse, behind: Behind): Promise<void> {
  const { handler, door, path, auth } = behind;
  const forbidden = door(request.headers);
  if (forbidden !== undefined) return refuse(response, 403, forbidden);
  if (pathOf(request) !== path) return refuse(response, 404, `Not found. This server answers at ${path}.`);
  if (auth !== undefined && !(await authenticate(request, response, auth))) return undefined;
  return await handler(request, response);
}

/** Clients write a path in one way, and what is written otherwise would never be found. */
function checkPath(path: string): void {
  if (!path.startsWith('/')) throw new RangeError(`path must begin with '/', got '${path}'.`);
  const { pathname } = new URL(`http://localhost${path}`);
  if (pathname !== path)
    throw new RangeError(`path must be written as clients send it, '${pathname}', got '${path}'.`);
}

function pathOf({ url = '/' }: NodeRequest): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** A subscription ends with the server, so that nothing waits for it. */
function isRequestThatEnds({ headers }: NodeRequest): boolean {
  return headers['mcp-method'] !== 'subscriptions/listen';
}

/** What a JSON-RPC client can read, for what is refused before there is a message. */
function refuse(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null });
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

function portOf(server: HttpServer): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function warnIfUnguarded(host: string, { allowedHosts }: ServeHttpOptions): void {
  if (isLoopback(host) || allowedHosts !== undefined) return;
  process.emitWarning(
    `The server listens on ${host} and answers to any Host. Name yours in allowedHosts, or web pages can reach it by DNS rebinding.`,
    { code: 'PARLEY_UNGUARDED_HOST' },
  );
}

async function stop(
  server: HttpServer,
  handler: PooledHandler,
  drain: Drain,
  patience: number,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await drain.drain(patience);
  await handler.close();
  const timer = setTimeout(() => server.closeAllConnections(), LAST_WORDS_MS);
  server.closeIdleConnections();
  await closed;
  clearTimeout(timer);
}
