import { McpServer } from '@modelcontextprotocol/server';
import type { Parley } from 'mcp-parley';
import type { Lists } from './lists.js';
import { registerMrtr } from './mrtr.js';
import { registerPrompts } from './prompts.js';
import { registerResources } from './resources.js';
import { registerStateless } from './stateless.js';
import { registerTasks } from './tasks.js';
import { registerTools } from './tools.js';

/**
 * A server with every fixture, made anew for each request. Fixtures that answer at once are registered on the
 * SDK's server itself, so that the suite also sees what the gate leaves alone; what asks or goes through a
 * flow is registered with Parley.
 *
 * @param lists what the lists hold beyond the fixtures, the same object for all requests.
 */
export function fixtureServer(parley: Parley, lists: Lists): McpServer {
  const mcp = new McpServer(
    { name: 'parley-conformance', version: '1.0.0' },
    { capabilities: { logging: {} } },
  );
  const flows = parley.attach(mcp);
  registerTools(mcp);
  registerPrompts(mcp);
  registerResources(mcp);
  registerMrtr(flows);
  registerStateless(flows, lists);
  registerTasks(flows);
  lists.registerExtras(mcp);
  return mcp;
}
