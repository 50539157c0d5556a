#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { generateKey } from 'mcp-parley';
import { ledgerSql } from 'mcp-parley/ledger/postgres';
import { loadPostgres } from './load-postgres.js';
import { run } from './program.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

// The code is set and not exited with, so that what stands in a pipe is still written.
process.exitCode = await run(process.argv.slice(2), {
  version,
  generateKey,
  ledgerSql,
  loadPostgres,
  env: process.env,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
});
