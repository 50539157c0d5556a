import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleSizes, packedSizes } from '../fixtures/sizes.js';
import type { Operation, Row } from '../harness/row.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** A process that does nothing but import a module. */
function importing(name: string | undefined): Operation {
  const code = name === undefined ? '' : `await import('${name}')`;
  return () => run(process.execPath, ['--input-type=module', '-e', code], { cwd: ROOT });
}

export default {
  title: 'Start-up: a process of node that imports the library and ends, and what is imported',
  leavesOut: 'a cold disk: files are in the cache of the system after the first import',
  async measure(bench) {
    const scenario = 'from starting the process to its end';
    const subjects = {
      "import('mcp-parley'), the SDK with it": importing('mcp-parley'),
      "import('@modelcontextprotocol/server')": importing('@modelcontextprotocol/server'),
      'nothing imported': importing(undefined),
    };
    await bench.compare(scenario, subjects, { single: { rounds: bench.quick ? 3 : 15 } });
    if (bench.quick) return; // sizes do not vary, and bundling takes as long as all of this row
    const sizes = {
      'npm package': packedSizes(),
      'bundled and minified, for node': await bundleSizes(),
    };
    for (const [scenario, bySubject] of Object.entries(sizes)) {
      for (const [subject, bytes] of Object.entries(bySubject)) {
        const size = bytes / 1_000;
        const value = { median: size, p10: size, p90: size, rounds: 1 };
        bench.add({ scenario, subject, unit: 'kB', value });
      }
    }
  },
} satisfies Row;
