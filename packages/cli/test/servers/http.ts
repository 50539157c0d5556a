import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type McpServerFactory } from '@modelcontextprotocol/server';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback. */
export interface Loopback {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free port of loopback. */
export async function listen(
  serve: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Loopback> {
  const http = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const address = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close: () => {
      http.closeAllConnections();
      return new Promise((resolve) => void http.close(() => resolve()));
    },
  };
}

/** Serves MCP over HTTP. */
export function serve(factory: McpServerFactory): Promise<Loopback> {
  return listen(toNodeHandler(createMcpHandler(factory)));
}

/** What a request on the wire holds. */
export interface WireRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage['headers'];
}

const DISCOVERED = {
  resultType: 'complete',
  ttlMs: 0,
  cacheScope: 'private',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, prompts: {}, resources: {} },
};

/**
 * A server that is all script: what it gives for a request is the result, or the error. It speaks 2026-07-28, or
 * something of its own.
 */
export function scripted(
  script: (request: WireRequest, response: ServerResponse) => unknown,
  { isModern = true } = {},
): Promise<Loopback> {
  return listen(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as WireRequest;
    if (id === undefined) return void response.writeHead(202).end();
    const discovered = isModern ? DISCOVERED : { code: -32_601, message: 'no' };
    const result =
      method === 'server/discover'
        ? discovered
        : await script({ id, method, params, headers: request.headers }, response);
    if (response.headersSent || response.destroyed || result === undefined) return;
    const isError = typeof result === 'object' && result !== null && 'code' in result;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(isError ? { error: result } : { result }) }));
  });
}

/** The list of a scripted server's tools. */
export function toolsResult(...tools: readonly Record<string, unknown>[]): Record<string, unknown> {
  const listed = tools.map((tool) => Object.assign({ inputSchema: { type: 'object' } }, tool));
  return { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: listed };
}

/** A final result as it stands on the wire. */
export function done(text: string): Record<string, unknown> {
  return { resultType: 'complete', content: [{ type: 'text', text }] };
}

/** Questions as they stand on the wire. */
export function asks(inputRequests: Record<string, unknown>, requestState?: string): Record<string, unknown> {
  return { resultType: 'input_required', inputRequests, ...(requestState !== undefined && { requestState }) };
}

/** A form on the wire. */
export function form(
  message: string,
  properties: Record<string, unknown> = { text: { type: 'string' } },
): unknown {
  const requestedSchema = { type: 'object', properties, required: Object.keys(properties) };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}
