import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { go, HOW, outcome, WHERE, type Form } from './deploy.js';

/** Where a server of 2025-11-25 sends its questions. */
export type Stream =
  /** In the response to the call that they belong to. */
  | 'call'
  /** On the stream that a client keeps open beside its calls. This is what `elicitInput` does if nothing is said. */
  | 'session';

/**
 * The demo's `deploy` on the official SDK 1, which speaks 2025-11-25: with sessions, and with questions that are
 * requests of the server, made while the call is open.
 */
export function deployOf2025(
  stream: Stream,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const sessions = new Map<string, Session>();
  return async (request, response) => {
    const id = request.headers['mcp-session-id'];
    const session = typeof id === 'string' ? sessions.get(id) : new Session(stream, sessions);
    if (session === undefined) response.writeHead(404).end();
    else await session.handle(request, response);
  };
}

/** What the server keeps for one client. */
class Session {
  readonly #transport: StreamableHTTPServerTransport;
  readonly #mcp = new McpServer({ name: 'releases-of-2025', version: '1.0.0' });
  #opened: () => void = () => undefined;
  /** The client opens the stream of the session on its own time. What is sent before that is lost. */
  readonly #isOpen = new Promise<void>((resolve) => void (this.#opened = resolve));

  constructor(stream: Stream, sessions: Map<string, Session>) {
    this.#transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, this),
    });
    this.#mcp.registerTool(
      'deploy',
      { inputSchema: { service: z.string(), environment: z.string() } },
      async (target, { requestId }) => {
        if (stream === 'session') await this.#isOpen;
        const ask = async (form: Form): Promise<Record<string, unknown>> => {
          const options = stream === 'call' ? { relatedRequestId: requestId } : {};
          const { content } = await this.#mcp.server.elicitInput({ mode: 'form', ...form }, options);
          return content ?? {};
        };
        const { region } = await ask(WHERE);
        const { replicas, strategy } = await ask(HOW);
        const plan = {
          ...target,
          region: String(region),
          replicas: Number(replicas),
          strategy: String(strategy),
        };
        const { confirm } = await ask(go(plan));
        return outcome(plan, confirm === true);
      },
    );
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#mcp.isConnected()) await this.#mcp.connect(this.#transport);
    const handled = this.#transport.handleRequest(request, response);
    if (request.method === 'GET') {
      // The transport tells nobody that the stream is there, but for its headers.
      while (!response.headersSent && !response.destroyed) await new Promise(setImmediate);
      this.#opened();
    }
    return handled;
  }
}
