import type { CallToolResult, Server } from '@modelcontextprotocol/server';
import { contextForTask } from './context.js';
import type { SdkHandler } from './request.js';
import type { ToolRunner } from './tasks.js';

/** The revision whose results tasks hold: they are made for clients of it only. */
const REVISION = '2026-07-28';

/** Calls tools as the SDK does for a request, through the handler that it installed behind the gate. */
export function toolRunner({
  server,
  has,
  handler,
}: {
  readonly server: Server;
  readonly has: (tool: string) => boolean;
  readonly handler: () => SdkHandler | undefined;
}): ToolRunner {
  return {
    has: (tool) => handler() !== undefined && has(tool),
    async run({ tool, args, ctx, run }) {
      const call = handler();
      if (call === undefined) throw new Error('This server has no tools.');
      // The SDK shapes results by the revision of its connection, and a server that a worker made has none.
      const internals = server as unknown as { _negotiatedProtocolVersion?: string };
      internals._negotiatedProtocolVersion ??= REVISION;
      const params = { name: tool, ...(args !== undefined && { arguments: args }) };
      return (await call({ params }, contextForTask(ctx, run))) as CallToolResult;
    },
  };
}
