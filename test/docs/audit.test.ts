import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { generateKey } from 'mcp-parley';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AuditReport } from '../../packages/cli/src/audit/report/report.js';
import { ATTACKS } from '../../packages/cli/src/audit/attacks/index.js';
import { audit } from '../../packages/cli/src/audit/audit.js';
import { faultsOf } from '../../packages/cli/src/audit/report/report.js';
import { HttpWire } from '../../packages/cli/src/audit/wire/http-wire.js';
import { serveWithUsers } from '../../packages/cli/test/servers/transfers.js';
import { load } from './load.js';
import { pages } from './markdown.js';

const page = pages().find(({ file }) => file === 'docs/audit.md');
const programs = page?.blocks ?? [];

async function audited(makeServer: () => McpServer): Promise<AuditReport> {
  const server = await serveWithUsers(createMcpHandler(makeServer));
  const callers = {
    main: [['Authorization', 'Bearer ann']],
    other: [['Authorization', 'Bearer ben']],
  } as const;
  const wire = new HttpWire({ url: server.url, callers, timeoutMs: 5000 });
  try {
    return await audit({
      target: server.url,
      wire,
      version: '0.0.0',
      attacks: ATTACKS,
      subject: {
        tool: 'transfer',
        arguments: { amount: 5 },
        callers: new Set(['main', 'other', 'anonymous']),
      },
    });
  } finally {
    await wire.close();
    await server.close();
  }
}

describe('the servers of docs/audit.md', () => {
  beforeAll(() => {
    vi.stubEnv('STATE_KEY', 'k3'.repeat(24));
    vi.stubEnv('PARLEY_KEYS', generateKey());
  });
  afterAll(() => vi.unstubAllEnvs());

  it.each([
    ['by hand, with the TypeScript SDK', 0],
    ['with Parley', 1],
  ])('%s: withstand the audit, but for notes', async (_, index) => {
    const { makeServer } = await load(`audit-${index}.ts`, programs[index]?.code ?? '');
    const report = await audited(makeServer as () => McpServer);
    const faults = faultsOf(report).map(({ attack, severity, finding }) => [
      attack.id,
      severity,
      finding.found,
    ]);
    expect(faults.filter(([, severity]) => severity !== 'note')).toEqual([]);
    expect(report.results.length).toBeGreaterThan(30);
  });
});
