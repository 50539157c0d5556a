import {
  McpServer,
  type MessageExtraInfo,
  type BaseContext,
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
 * What the SDK's entry sets on an instance before a request, and keeps from others. An instance that serves more than
 * one request needs it set for each. `test/http/sdk-seams.test.ts` pins these members to the SDK in use.
 */
export interface Inner {
  _clientCapabilities: unknown;
  _clientVersion: unknown;
  buildContext(this: Server, context: BaseContext, extra?: MessageExtraInfo): ServerContext;
}

/** The same server, with the members that the SDK keeps to itself. */
export function innerOf(server: Server): Inner {
  return server as unknown as Inner;
}
