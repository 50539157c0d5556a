import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { IncomingMessage } from 'node:http';

/** A request of `node:http`, with what middleware found out about its caller. */
export type NodeRequest = IncomingMessage & { auth?: AuthInfo };

/** The request as it came, for the SDK's entry: first what was read of its body, then the rest, if there is one. */
export function unread(
  request: NodeRequest,
  chunks: readonly Buffer[],
  rest: boolean,
): NodeIncomingMessageLike {
  return {
    ...asLike(request),
    async *[Symbol.asyncIterator]() {
      yield* chunks;
      if (rest) yield* request;
    },
  };
}

/** The request for the SDK's entry, its body not read. */
export function asLike(request: NodeRequest): NodeIncomingMessageLike {
  return {
    ...(request.method !== undefined && { method: request.method }),
    ...(request.url !== undefined && { url: request.url }),
    headers: request.headers,
    ...(request.auth !== undefined && { auth: request.auth }),
    [Symbol.asyncIterator]: () => request[Symbol.asyncIterator](),
  };
}
