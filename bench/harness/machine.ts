import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** What the numbers were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly v8: string;
  /** Of the last minute, before the run: others may share the machine. */
  readonly load: number;
  readonly packages: Readonly<Record<string, string>>;
}

const PACKAGES = ['@modelcontextprotocol/server', '@modelcontextprotocol/node', 'jose', 'zod'];

/** Describes this machine. */
export function describeMachine(): Machine {
  const modules = new URL('../../node_modules/', import.meta.url);
  const versionIn = (folder: URL): string =>
    (JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version: string }).version;
  const peers = PACKAGES.map((name) => [name, versionIn(new URL(`${name}/`, modules))]);
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${process.arch}`,
    node: process.versions.node,
    v8: process.versions.v8,
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    packages: {
      'mcp-parley': versionIn(new URL('../../packages/parley/', import.meta.url)),
      ...(Object.fromEntries(peers) as Record<string, string>),
    },
  };
}
