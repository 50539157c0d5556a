/**
 * A server that can be killed: a process of its own, on the port that it is told. It asks, then works; with `HANG=1`
 * it never gets done. It tells its parent by messages where it listens, and when it works.
 */
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Parley } from 'mcp-parley';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const { PARLEY_KEYS, PORT, HANG } = process.env;
const parley = new Parley({ keys: PARLEY_KEYS });
const handle = toNodeHandler(
  createMcpHandler(() => {
    const mcp = new McpServer({ name: 'mortal', version: '1.0.0' });
    parley.attach(mcp).registerTool('t', {}, async (flow) => {
      const isSure = await flow.confirm('go', 'Go?');
      process.send?.('working');
      if (HANG !== undefined) await new Promise(() => undefined);
      return { content: [{ type: 'text', text: String(isSure) }] };
    });
    return mcp;
  }),
);
const http = createServer((request, response) => void handle(request, response));
http.listen(Number(PORT), '127.0.0.1', () => process.send?.((http.address() as AddressInfo).port));

// Whoever started it has gone.
process.once('disconnect', () => process.exit());
