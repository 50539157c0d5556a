import { McpServer } from '@modelcontextprotocol/server';
import { Parley } from 'mcp-parley';
import * as z from 'zod';
import { KEY } from '../fixtures/parts.js';
import type { Row } from '../harness/row.js';

const INFO = { name: 'bench', version: '1.0.0' };
const CONFIG = { description: 'Deploys a service.', inputSchema: z.object({ service: z.string() }) };
const RESULT = { content: [] };

export default {
  title: 'Attaching: what an instance costs before it serves its one request',
  leavesOut: 'serving the request',
  async measure(bench) {
    const parley = new Parley({ keys: KEY });
    const without = 'McpServer and registerTool alone';
    const found = await bench.compare('new McpServer, attach, registerTool', {
      'with parley.attach': () =>
        parley.attach(new McpServer(INFO)).registerTool('deploy', CONFIG, () => RESULT),
      [without]: () => new McpServer(INFO).registerTool('deploy', CONFIG, () => RESULT),
    });
    const micros = found.time() - found.time(without);
    const value = { median: micros, p10: micros, p90: micros, rounds: 1 };
    bench.add({ scenario: 'the difference', subject: 'parley.attach, its share', unit: 'µs', value });
  },
} satisfies Row;
