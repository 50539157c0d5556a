import {
  createMcpHandler,
  McpServer,
  Server,
  type JSONRPCRequest,
  type Transport,
} from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { innerOf, serverOf } from '../../src/http/inner.js';
import { draft, finish } from './faults.js';

/*
 * What the pool takes for granted about the SDK in use, and what the SDK does not promise. When one of these fails
 * after an update, read src/http/inner.ts and src/http/instance.ts before anything else.
 */

function withTool(): McpServer {
  const mcp = new McpServer({ name: 'test', version: '1.0.0' });
  mcp.registerTool('echo', {}, () => ({ content: [] }));
  return mcp;
}

const CALL = { method: 'tools/call', params: { name: 'echo' }, pooled: true };

function callOfEcho(): JSONRPCRequest {
  return draft(CALL).json as JSONRPCRequest;
}

function webRequest(): Request {
  const { headers, body } = finish(draft(CALL));
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    body: body?.toString() ?? null,
  });
}

/** Serves one request as the SDK's entry does, and waits until the instance is closed. */
async function servedOnce(mcp: McpServer): Promise<Response> {
  const closed = new Promise<void>((resolve) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- of the SDK, where there is only this
    mcp.server.onclose = resolve;
  });
  const response = await createMcpHandler(() => mcp).fetch(webRequest());
  await closed;
  delete mcp.server.onclose;
  return response;
}

describe('the SDK', () => {
  it('seeds what the client said of itself into these members', async () => {
    const mcp = withTool();
    await servedOnce(mcp);
    const inner = innerOf(mcp.server);
    expect(inner._clientVersion).toEqual({ name: 'client', version: '2' });
    expect(inner._clientCapabilities).toMatchObject({ elicitation: { form: {} } });
    inner._clientVersion = { name: 'other', version: '1' };
    inner._clientCapabilities = { roots: {} };
    expect(mcp.server.getClientVersion()).toEqual({ name: 'other', version: '1' });
    expect(mcp.server.getClientCapabilities()).toEqual({ roots: {} });
  });

  it('closes an instance at the end of its exchange, leaves it unconnected, and calls onclose', async () => {
    const mcp = withTool();
    const response = await servedOnce(mcp);
    expect(response.status).toBe(200);
    expect(mcp.server.transport).toBeUndefined();
  });

  it('keeps an instance bound to the revision, so that it can be connected again and serve it', async () => {
    const mcp = withTool();
    await servedOnce(mcp);
    expect(mcp.server.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    const sent: unknown[] = [];
    const transport: Transport = {
      start: async () => {},
      close: async () => {},
      send: async (message) => void sent.push(message),
    };
    await mcp.connect(transport);
    expect(mcp.server.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    transport.onmessage?.(callOfEcho(), { classification: { era: 'modern', revision: '2026-07-28' } });
    await expect.poll(() => sent).toMatchObject([{ id: 1, result: { resultType: 'complete' } }]);
  });

  it('builds the context of a request in buildContext, before onmessage returns', async () => {
    const mcp = withTool();
    await servedOnce(mcp);
    const inner = innerOf(mcp.server);
    const build = inner.buildContext.bind(mcp.server);
    const built: unknown[] = [];
    inner.buildContext = (context, extra) => {
      built.push(context.mcpReq.id);
      return build(context, extra);
    };
    const transport: Transport = { start: async () => {}, close: async () => {}, send: async () => {} };
    await mcp.connect(transport);
    transport.onmessage?.(callOfEcho(), { classification: { era: 'modern', revision: '2026-07-28' } });
    expect(built).toEqual([1]);
    Reflect.deleteProperty(mcp.server, 'buildContext');
    expect(Reflect.get(mcp.server, 'buildContext')).toBe(Reflect.get(Server.prototype, 'buildContext'));
  });

  it('keeps the abort controller of a running request under its id, until it was answered', async () => {
    const mcp = new McpServer({ name: 'test', version: '1.0.0' });
    let end = (): void => {};
    mcp.registerTool('echo', {}, async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return { content: [] };
    });
    const controllers = () => innerOf(mcp.server)._requestHandlerAbortControllers;
    const answer = createMcpHandler(() => mcp).fetch(webRequest());
    await expect.poll(() => [...controllers().keys()]).toEqual([1]);
    expect(controllers().get(1)).toBeInstanceOf(AbortController);
    end();
    await answer;
    await expect.poll(() => controllers().size).toBe(0);
  });

  it('calls this with a request, if it is there at all', () => {
    const server = new Server({ name: 'test', version: '1.0.0' });
    expect(typeof Reflect.get(innerOf(server), '_onrequest')).toBe('function');
  });

  it('gives the low-level server of either product', () => {
    const mcp = withTool();
    expect(serverOf(mcp)).toBe(mcp.server);
    expect(serverOf(mcp.server)).toBe(mcp.server);
  });
});
