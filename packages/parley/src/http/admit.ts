import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJsonContentType,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { classify, REVISION, type Classified } from './classify.js';
import { hasPlainAddress } from './web-request.js';

/** Methods that the SDK's entry answers itself, with a stream. */
const STREAMS: ReadonlySet<string> = new Set(['subscriptions/listen']);

/** Members of `params` that `Mcp-Name` repeats, by method; which one is the SDK's to know. */
const NAMED_BY = ['name', 'uri', 'taskId'] as const;

const VISIBLE_ASCII = /^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/;

/** How a value in base64 begins that could not stand in a header as it is. */
const ENCODED = '=?';

/** A request that an instance can serve at once: no rule of the transport is left to check but those of its tool. */
export interface Admitted extends Classified {
  /** What the client says of itself. */
  readonly client: { readonly capabilities: unknown; readonly info: unknown };
}

/** Whether the head of a request leaves it possible that it is admitted. Its body is not read before. */
export function mayBeAdmitted(request: IncomingMessage, maxBytes: number): boolean {
  const { method, headers } = request;
  const mcpMethod = headers['mcp-method'];
  return (
    method === 'POST' &&
    isJsonContentType(headers['content-type'] ?? null) &&
    headers['mcp-protocol-version'] === REVISION &&
    typeof mcpMethod === 'string' &&
    !STREAMS.has(mcpMethod) &&
    !(Number(headers['content-length']) > maxBytes) &&
    hasPlainAddress(request)
  );
}

/**
 * Takes a request whose head {@link mayBeAdmitted} and whose every rule of headers and `_meta` is plainly kept. The
 * SDK's classification decides about the message. About the headers this is stricter than the SDK and not a copy of
 * it: what is not plain is undefined here, goes to the SDK's own entry, and is answered or served there.
 */
export function admit(headers: IncomingHttpHeaders, body: unknown): Admitted | undefined {
  const mcpMethod = one(headers['mcp-method']);
  const classified = classify(mcpMethod, body);
  if (classified === undefined) return undefined;
  const { message } = classified;
  if (message.method !== mcpMethod || STREAMS.has(mcpMethod) || !isNamed(message, one(headers['mcp-name'])))
    return undefined;
  const meta = message.params?._meta;
  return {
    ...classified,
    client: { capabilities: meta?.[CLIENT_CAPABILITIES_META_KEY], info: meta?.[CLIENT_INFO_META_KEY] },
  };
}

/** Whichever member names the target: each that is there equals the header, and without a header there is none. */
function isNamed({ params }: JSONRPCRequest, header: string | undefined): boolean {
  if (header !== undefined && (!VISIBLE_ASCII.test(header) || header.startsWith(ENCODED))) return false;
  return NAMED_BY.every((member) => {
    const value: unknown = params?.[member];
    return typeof value !== 'string' || value === header;
  });
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
