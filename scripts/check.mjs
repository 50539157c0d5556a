// Types, lint, format, unused code, and whether the packed packages work for those who install them. All
// checks run, so that one run shows everything that is wrong.
import { spawnSync } from 'node:child_process';

const CHECKS = [
  ['types', 'tsc', ['--noEmit', '-p', 'tsconfig.json']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['format', 'prettier', ['--check', '--log-level', 'warn', '.']],
  ['unused', 'knip', ['--no-progress']],
  ['package', 'publint', ['run', 'packages/parley', '--strict']],
  ['package (cli)', 'publint', ['run', 'packages/cli', '--strict']],
  // Types are judged where there are any: the SQL file has none.
  [
    'exports',
    'attw',
    '--pack packages/parley --profile esm-only --quiet --exclude-entrypoints ledger/postgres.sql tasks/postgres.sql'.split(
      ' ',
    ),
  ],
];

let failed = 0;
for (const [name, command, args] of CHECKS) {
  const started = performance.now();
  const parts = ['--no-install', command].concat(args);
  const { status, stdout, stderr } = spawnSync('npx', parts, {
    encoding: 'utf8',
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${String(name)} (${seconds} s)`);
  if (status !== 0) {
    failed += 1;
    console.log(`${stdout}${stderr}`.trimEnd());
  }
}
if (failed > 0) process.exit(1);
