import { createRequestStateCodec, McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, Parley } from '../../src/index.js';
import { accept, instance, stateOf, TEST_KEY, textOf } from './wire-harness.js';

const quiet = { warn: () => undefined };

function parley(): Parley {
  return new Parley({ keys: TEST_KEY, logger: quiet });
}

const yes = { go: accept({ confirm: true }) };

describe('attach', () => {
  it('refuses a server twice', () => {
    const one = parley();
    const mcp = new McpServer({ name: 's', version: '1' });
    one.attach(mcp);
    expect(() => one.attach(mcp)).toThrow(/attached already/);
  });

  it(`tells a server that configures the SDK's own verification what to do`, () => {
    const codec = createRequestStateCodec({ key: 'k'.repeat(32) });
    const mcp = new McpServer(
      { name: 's', version: '1' },
      { requestState: { verify: (state, ctx) => codec.verify(state, ctx) } },
    );
    expect(() => parley().attach(mcp)).toThrow(ConfigurationError);
    expect(() => parley().attach(mcp)).toThrow(/'requestState.verify'.*remove that option/s);
  });

  it('refuses a server whose handler was set by hand before, since it cannot be wrapped any more', () => {
    const mcp = new McpServer({ name: 's', version: '1' }, { capabilities: { tools: {} } });
    mcp.server.removeRequestHandler('tools/call');
    const bare = new McpServer({ name: 's', version: '1' });
    bare.server.registerCapabilities({ tools: {} });
    bare.server.setRequestHandler('tools/call', (): CallToolResult => ({ content: [] }));
    expect(() => parley().attach(bare)).toThrow(/tools\/call already that was set by hand/);
  });

  it('gates what is set by hand afterwards', async () => {
    const server = instance((_flows, mcp) => {
      mcp.server.registerCapabilities({ tools: {} });
      mcp.server.setRequestHandler('tools/call', (): CallToolResult => ({
        content: [{ type: 'text', text: 'ran' }],
      }));
    });
    expect(textOf(await server.call('tools/call', 'any'))).toBe('ran');
    const forged = await server.call('tools/call', 'any', { requestState: 'forged' });
    expect(forged.error?.code).toBe(-32_602);
  });

  it('takes a server whose capabilities were declared at construction, and what was registered before', async () => {
    const { createMcpHandler } = await import('@modelcontextprotocol/server');
    const one = parley();
    const rejections: string[] = [];
    one.on('rejected', ({ reason }) => void rejections.push(reason));
    const handler = createMcpHandler(() => {
      const mcp = new McpServer(
        { name: 's', version: '1' },
        { capabilities: { tools: {}, prompts: {}, resources: {} } },
      );
      mcp.registerTool('early', {}, () => ({ content: [{ type: 'text', text: 'early' }] }));
      one.attach(mcp).registerTool('late', {}, () => ({ content: [{ type: 'text', text: 'late' }] }));
      return mcp;
    });
    const call = async (method: string, params: Record<string, unknown>): Promise<string> => {
      const response = await handler.fetch(
        new Request('http://127.0.0.1/mcp', {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            'MCP-Protocol-Version': '2026-07-28',
            'Mcp-Method': method,
            ...(typeof params['name'] === 'string' && { 'Mcp-Name': params['name'] }),
          },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method,
            params: {
              ...params,
              _meta: {
                'io.modelcontextprotocol/protocolVersion': '2026-07-28',
                'io.modelcontextprotocol/clientCapabilities': {},
              },
            },
          }),
        }),
      );
      return await response.text();
    };
    expect(await call('tools/list', {})).toMatch(/early.*late/);
    expect(await call('tools/call', { name: 'late', arguments: {} })).toContain('"text":"late"');
    expect(await call('tools/call', { name: 'early', arguments: {}, requestState: 'x' })).toContain('-32602');
    expect(rejections).toEqual(['malformed']);
  });

  it('needs a name to derive keys for, or an audience', () => {
    const mcp = new McpServer({ name: '', version: '1' });
    expect(() => parley().attach(mcp)).toThrow(/option 'audience'/);
    expect(() => new Parley({ keys: TEST_KEY, audience: 'a', logger: quiet }).attach(mcp)).not.toThrow();
  });
});

describe('handles of the SDK keep working', () => {
  it('a renamed flow is still a flow; one with a callback of its own is written by hand', async () => {
    let change: 'none' | 'rename' | 'replace' = 'none';
    const server = instance((flows) => {
      const handle = flows.registerTool('pay', { version: '2' }, async (flow) => ({
        content: [{ type: 'text', text: String(await flow.confirm('go', 'Pay?')) }],
      }));
      if (change === 'rename') handle.update({ name: 'pay-now' });
      if (change === 'replace')
        handle.update({ callback: () => ({ content: [{ type: 'text', text: 'by hand' }] }) });
    });
    const before = stateOf(await server.call('tools/call', 'pay'));
    change = 'rename';
    const renamed = stateOf(await server.call('tools/call', 'pay-now'));
    const done = await server.call('tools/call', 'pay-now', { requestState: renamed, inputResponses: yes });
    expect(textOf(done)).toBe('true');
    change = 'replace';
    expect(textOf(await server.call('tools/call', 'pay'))).toBe('by hand');
    await server.call('tools/call', 'pay', { requestState: before, inputResponses: yes });
    expect(server.rejections).toEqual(['kind']);
  });
});
