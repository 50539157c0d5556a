import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthInfo } from '@modelcontextprotocol/server';

/** A request as it goes over the wire, right or wrong. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** In this order and spelling; a name may come twice. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | undefined;
  /** Sends the body in pieces, and does not say how long it is. */
  readonly chunked: boolean;
}

/** A response, with what must be equal whichever entry gave it. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The parsed body; of a stream, its events. */
  readonly body: unknown;
}

/** Says what an entry is called for: `node:http`, with a verified caller. */
export type NodeEntry = (
  request: IncomingMessage & { auth?: AuthInfo },
  response: ServerResponse,
) => Promise<void>;

/** A server on loopback. */
export interface Loopback {
  readonly port: number;
  send(request: RawRequest): Promise<RawResponse>;
  close(): Promise<void>;
}

/** Who calls, by the header `X-User`. */
function authOf(user: string): AuthInfo {
  const scopes = user === 'admin' ? ['read', 'admin'] : ['read'];
  return { token: user, clientId: 'app', scopes, extra: { sub: user } };
}

/** Serves an entry behind a middleware that takes the header `X-User` for a verified caller. */
export async function loopback(entry: NodeEntry): Promise<Loopback> {
  const failures: unknown[] = [];
  const server = createServer((incoming, response) => {
    const user = incoming.headers['x-user'];
    const request = typeof user === 'string' ? Object.assign(incoming, { auth: authOf(user) }) : incoming;
    entry(request, response).catch((error: unknown) => {
      failures.push(error);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  return {
    port,
    send: (raw) => sendUntilAnswered(port, agent, raw),
    async close() {
      agent.destroy();
      await end(server);
      if (failures.length > 0) throw new AggregateError(failures, 'An entry must never reject.');
    },
  };
}

async function end(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/**
 * A server that refuses a body closes the connection with bytes of it unread, and the reset that this sends can
 * overtake the answer. So a request whose connection was reset is sent again, a few times, on a new connection.
 */
async function sendUntilAnswered(port: number, agent: Agent, raw: RawRequest): Promise<RawResponse> {
  let by = agent;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return await send(port, by, raw);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ECONNRESET' && code !== 'EPIPE') throw error;
    } finally {
      if (by !== agent) by.destroy();
    }
    by = new Agent({ keepAlive: true });
  }
  throw new Error('The connection was reset five times.');
}

/** How long to wait for an answer, in ms: a request that hangs fails by its name, and not as the whole test. */
const PATIENCE = 5_000;

function send(
  port: number,
  agent: Agent,
  { method, path, headers, body, chunked }: RawRequest,
): Promise<RawResponse> {
  const length = body === undefined || chunked ? [] : [['Content-Length', String(body.length)] as const];
  const flat = [
    ...headers,
    ...length,
    ...(chunked ? [['Transfer-Encoding', 'chunked'] as const] : []),
  ].flat();
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, agent, method, path, headers: flat });
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(toRaw(response, Buffer.concat(chunks).toString('utf8'))));
    });
    outgoing.on('error', reject);
    outgoing.setTimeout(PATIENCE, () => outgoing.destroy(new Error(`No answer in ${PATIENCE} ms.`)));
    if (body === undefined || !chunked) {
      outgoing.end(body);
      return;
    }
    const size = Math.ceil(body.length / 3) || 1;
    for (let at = 0; at < body.length; at += size) outgoing.write(body.subarray(at, at + size));
    outgoing.end();
  });
}

/** These say how a body is framed, or when; the rest must be equal. */
const FRAMING: ReadonlySet<string> = new Set(['date', 'content-length', 'transfer-encoding']);

function toRaw({ statusCode, headers }: IncomingMessage, text: string): RawResponse {
  const kept = Object.entries(headers).filter(([name]) => !FRAMING.has(name));
  return {
    status: statusCode ?? 0,
    headers: Object.fromEntries(kept),
    body: parse(headers['content-type'], text),
  };
}

function parse(type: string | undefined, text: string): unknown {
  if (type?.startsWith('application/json') === true) return parseJson(text);
  if (type?.startsWith('text/event-stream') !== true) return text;
  return text.split('\n\n').map((event) => {
    const [, head, data] = /^([^]*?)data: ([^]*)$/.exec(event) ?? [];
    return data === undefined ? event : { head, data: parseJson(data) };
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { 'not JSON': text };
  }
}
