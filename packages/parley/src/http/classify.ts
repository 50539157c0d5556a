import {
  classifyInboundRequest,
  type JSONRPCRequest,
  type MessageClassification,
} from '@modelcontextprotocol/server';

/** The revision whose requests are served by instances that are used again. */
export const REVISION = '2026-07-28';

/** A request of {@link REVISION}, by the SDK's classification. */
export interface Classified {
  readonly message: JSONRPCRequest;
  readonly classification: MessageClassification;
}

/** Shapes that are remembered, and how long the text of one may be: clients send few, and an attacker any. */
const REMEMBERED = 512;
const LONGEST = 1_024;

const MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);

/** What the SDK said of a shape. */
const known = new Map<string, MessageClassification>();

/**
 * Classifies a body as the SDK does; undefined for what is no request of {@link REVISION}.
 *
 * The SDK tries three schemas, of which two fail, which costs as much as the rest of a small request. Its verdict on a
 * plain request depends on the method, the header that repeats it and `_meta` only, so it is remembered by these.
 */
export function classify(mcpMethod: string | undefined, body: unknown): Classified | undefined {
  const shape = shapeOf(mcpMethod, body);
  const remembered = shape === undefined ? undefined : known.get(shape);
  if (remembered !== undefined) return { message: body as JSONRPCRequest, classification: remembered };
  const route = classifyInboundRequest({
    httpMethod: 'POST',
    protocolVersionHeader: REVISION,
    ...(mcpMethod !== undefined && { mcpMethodHeader: mcpMethod }),
    body,
  });
  if (route.kind !== 'modern' || route.messageKind !== 'request') return undefined;
  const { message, classification } = route;
  if (classification.revision !== REVISION) return undefined;
  if (shape !== undefined) {
    if (known.size >= REMEMBERED) known.clear();
    known.set(shape, classification);
  }
  return { message, classification };
}

/** All that the verdict depends on, as text; undefined for what is not plain, or too long. */
function shapeOf(mcpMethod: string | undefined, body: unknown): string | undefined {
  if (!isObject(body) || body['jsonrpc'] !== '2.0') return undefined;
  const { id, method, params } = body;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
  if (typeof method !== 'string' || !isObject(params) || !isObject(params['_meta'])) return undefined;
  for (const member in body) if (!MEMBERS.has(member)) return undefined;
  const shape = textOf([mcpMethod, method, params['_meta']]);
  // A number too large for a double reads as Infinity and is written as null: two values, one text.
  return shape === undefined || shape.length > LONGEST || shape.includes('null') ? undefined : shape;
}

/** JSON can be read at any depth, and not be written: there the stack ends. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
