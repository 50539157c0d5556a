import type { McpServer } from '@modelcontextprotocol/server';
import { ConfigurationError } from '../errors.js';

/**
 * The SDK installs its handlers when something is registered, or in the constructor when the capability is
 * declared there, as its own examples do. These are what it keeps private about that.
 */
interface Internals {
  _toolHandlersInitialized?: boolean;
  _promptHandlersInitialized?: boolean;
  _resourceHandlersInitialized?: boolean;
  setToolRequestHandlers?: () => void;
  setPromptRequestHandlers?: () => void;
  setResourceRequestHandlers?: () => void;
}

interface Group {
  readonly methods: readonly string[];
  readonly flag: '_toolHandlersInitialized' | '_promptHandlersInitialized' | '_resourceHandlersInitialized';
  readonly install: 'setToolRequestHandlers' | 'setPromptRequestHandlers' | 'setResourceRequestHandlers';
}

const GROUPS: readonly Group[] = [
  {
    methods: ['tools/call', 'tools/list'],
    flag: '_toolHandlersInitialized',
    install: 'setToolRequestHandlers',
  },
  {
    methods: ['prompts/get', 'prompts/list'],
    flag: '_promptHandlersInitialized',
    install: 'setPromptRequestHandlers',
  },
  {
    methods: ['resources/read', 'resources/list', 'resources/templates/list'],
    flag: '_resourceHandlersInitialized',
    install: 'setResourceRequestHandlers',
  },
];

/**
 * Takes out the handlers that `McpServer` has installed already.
 *
 * @returns a function that lets it install them again, then through the gate.
 * @throws ConfigurationError when a handler was installed in another way: then it cannot be wrapped any more.
 */
export function takeOutHandlers(mcp: McpServer): () => void {
  const { server } = mcp;
  const internals = mcp as unknown as Internals;
  const taken = GROUPS.filter(({ methods }) => !methods.every((method) => isFree(mcp, method)));
  for (const { methods, flag, install } of taken) {
    if (internals[flag] !== true || internals[install] === undefined) {
      throw new ConfigurationError(
        `This server has a handler for ${methods[0] ?? ''} already that was set by hand. Attach before it is set.`,
      );
    }
    for (const method of methods) server.removeRequestHandler(method);
    internals[flag] = false;
  }
  return () => {
    for (const { install } of taken) internals[install]?.();
  };
}

function isFree(mcp: McpServer, method: string): boolean {
  try {
    mcp.server.assertCanSetRequestHandler(method);
    return true;
  } catch {
    return false;
  }
}
