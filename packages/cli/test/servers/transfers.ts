import { toNodeHandler } from '@modelcontextprotocol/node';
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { listen, type Loopback } from './http.js';

/** What the tool `transfer` takes and asks, in zod, for servers of the SDK; the same as the harness has by hand. */
export const INPUT = z.strictObject({
  account: z.enum(['current', 'savings']),
  note: z.string().max(40).optional(),
});
export const PAYMENT = z.object({
  to: z.string().min(1).max(40),
  amount: z.number().min(1).max(10_000),
  currency: z.enum(['EUR', 'USD']),
});
export const REASON = z.object({ reason: z.string().max(100) });

export const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

/** Listens, and takes bearer tokens for users' names; all of them use one application. */
export function serveWithUsers(handler: McpHttpHandler): Promise<Loopback> {
  const handle = toNodeHandler(handler);
  return listen((request, response) => handle(Object.assign(request, { auth: authOf(request) }), response));
}

function authOf({ headers }: IncomingMessage): AuthInfo | undefined {
  const user = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  return user === undefined
    ? undefined
    : { token: user, clientId: 'app', scopes: [], extra: { iss: 'https://id.example.com', sub: user } };
}
