import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./packages/parley/src/${path}`, import.meta.url));

// Tests run against the sources, so that a fault is found where it was written and coverage is of our code.
export default defineConfig({
  resolve: {
    alias: [
      { find: '#crypto', replacement: source('seal/crypto.node.ts') },
      { find: /^mcp-parley\/ledger\/(redis|postgres)$/, replacement: source('ledger/$1.ts') },
      { find: /^mcp-parley\/tasks\/postgres$/, replacement: source('tasks/postgres.ts') },
      { find: /^mcp-parley\/tasks$/, replacement: source('tasks/index.ts') },
      { find: /^mcp-parley\/http$/, replacement: source('http/index.ts') },
      { find: /^mcp-parley\/client$/, replacement: source('client/index.ts') },
      { find: /^mcp-parley\/inspect$/, replacement: source('inspect/index.ts') },
      { find: /^mcp-parley\/testing$/, replacement: source('testing/index.ts') },
      { find: /^mcp-parley$/, replacement: source('index.ts') },
    ],
  },
  test: {
    globalSetup: ['test/services/global-setup.ts'],
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2, // Half of the time is spent waiting for processes and services; vitest leaves one core of two idle.
    execArgv: ['--expose-gc'],
    testTimeout: 30_000,
    reporters: ['default'],
  },
});
