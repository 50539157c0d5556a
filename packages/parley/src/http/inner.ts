import {
  McpServer,
  type BaseContext,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** What a factory makes. */
export type Product = McpServer | Server;

/** The low-level server of what a factory made. */
export function serverOf(product: Product): Server {
  return product instanceof McpServer ? product.server : product;
}

/**
 * What the SDK's entry sets on an instance before a request and ends after it. An instance that serves more than one
 * request needs it done for each. `test/http/sdk-seams.test.ts` pins these members to the SDK in use.
 */
export interface Inner {
  _clientCapabilities: unknown;
  _clientVersion: unknown;
  readonly _requestHandlerAbortControllers: ReadonlyMap<unknown, AbortController>;
  /** What `transport.onmessage` calls once it has tried which kind of message it has; absent in an SDK to come. */
  _onrequest?(message: JSONRPCRequest, extra: MessageExtraInfo): void;
  buildContext(this: Server, context: BaseContext, extra?: MessageExtraInfo): ServerContext;
}

/** The same server, with the members that the SDK keeps to itself. */
export function innerOf(server: Server): Inner {
  return server as unknown as Inner;
}
