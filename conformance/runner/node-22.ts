import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CONFORMANCE } from './paths.js';

/**
 * The `node` that the suite's command runs under: this one if it is new enough, else the one that is
 * installed beside the suite. The suite imports `fs.globSync`, which came with Node 22.
 *
 * @throws Error that says what to do when there is none.
 */
export function nodeForSuite(): string {
  const { execPath, platform, arch, versions } = process;
  if (Number.parseInt(versions.node, 10) >= 22) return execPath;
  const windows = platform === 'win32';
  const name = `node-${windows ? 'win' : platform}-${arch}`;
  const bundled = join(CONFORMANCE, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node');
  if (existsSync(bundled)) return bundled;
  throw new Error(
    `The official suite needs Node 22 or later, and this is Node ${versions.node}. Run 'npm ci' in conformance/, which ` +
      `brings one for most platforms (not found: ${name}), or run this under Node 22.`,
  );
}
