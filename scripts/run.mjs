#!/usr/bin/env node
// Runs one of the project's commands after installing and building what is missing. Plain JavaScript without
// dependencies: on a fresh clone there are none yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, 'node_modules', name);

const TSX = ['--import', 'tsx'];

/** What each command runs, in order. Each is a list of arguments for this very `node`. */
const COMMANDS = {
  demo: [[...TSX, 'examples/demo/main.ts']],
  test: [[bin('vitest/vitest.mjs'), 'run']],
  check: [[join('scripts', 'check.mjs')]],
  conformance: [[...TSX, 'conformance/run.ts']],
  bench: [['--expose-gc', ...TSX, 'bench/run.ts']],
  chaos: [[...TSX, 'chaos/run.ts']],
};

const [command = '', ...args] = process.argv.slice(2);
const steps = COMMANDS[command];
if (steps === undefined) {
  console.error(`Unknown command '${command}'. There are: ${Object.keys(COMMANDS).join(', ')}.`);
  process.exit(2);
}
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node ${process.versions.node} is too old: this project needs Node 20.19 or later.`);
  process.exit(2);
}

process.chdir(root);
install(root, 'dependencies');
if (command === 'conformance') install(join(root, 'conformance'), 'the official suite');
build();
for (const [index, step] of steps.entries()) {
  run(process.execPath, index === steps.length - 1 ? [...step, ...args] : step);
}

/** Installs what the lock file of a folder says, unless exactly that was installed before. */
function install(folder, what) {
  const stamp = join(folder, 'node_modules', '.parley-lock');
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  console.error(`Installing ${what} …`);
  run('npm', ['ci', '--no-fund', '--no-audit', '--loglevel=error'], folder);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, lock);
}

/** Builds the packages. The compiler is incremental: with nothing changed this takes a moment. */
function build() {
  if (!existsSync(join(root, 'packages/parley/dist/index.js'))) console.error('Building …');
  run(process.execPath, [bin('typescript/bin/tsc'), '-b', 'packages/parley', 'packages/cli']);
}

function run(file, args, cwd = root) {
  const { status, signal, error } = spawnSync(file, args, {
    cwd,
    stdio: 'inherit',
    shell: file === 'npm' && process.platform === 'win32',
  });
  if (error !== undefined) {
    console.error(`${file} could not be started: ${error.message}`);
    process.exit(1);
  }
  if (status !== 0) process.exit(status ?? (signal === 'SIGINT' ? 130 : 1));
}
