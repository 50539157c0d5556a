import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const AUDIT = resolve(SOURCES, 'audit');

/** Modules that a file imports at run time. Types are gone by then. */
const IMPORT =
  /^\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|\brequire\(\s*'([^']+)'\s*\)/gm;

function importsOf(file: string): readonly string[] {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(IMPORT)].map(([, ...names]) => names.find((name) => name !== undefined) ?? '');
}

/** Files of the audit, and what else of the CLI they import. */
function reachable(): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(AUDIT, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => resolve(AUDIT, name));
  const seen = new Map<string, readonly string[]>();
  for (let file = files.pop(); file !== undefined; file = files.pop()) {
    if (seen.has(file)) continue;
    const imports = importsOf(file);
    seen.set(file, imports);
    for (const name of imports)
      if (name.startsWith('.')) files.push(resolve(dirname(file), name.replace(/\.js$/, '.ts')));
  }
  return seen;
}

it('the audit shares no code with what it judges', () => {
  const graph = reachable();
  const shared = [...graph].flatMap(([file, imports]) =>
    imports
      .filter((name) => /^(?:mcp-parley|@modelcontextprotocol)(?:\/|$)/.test(name))
      .map((name) => `${relative(SOURCES, file)} imports ${name}`),
  );
  expect(shared).toEqual([]);
  // That it was read at all: from the list of attacks down to a helper of the CLI.
  expect([...graph.keys()].map((file) => relative(SOURCES, file))).toEqual(
    expect.arrayContaining(['audit/attacks/index.ts', 'audit/wire/http-wire.ts', 'safe-text.ts']),
  );
});

it('sees an import that is not a type', () => {
  expect(importsOf(resolve(SOURCES, 'questions.ts')).length).toBeGreaterThan(0);
  expect([..."import { a } from 'mcp-parley/client';".matchAll(IMPORT)]).toHaveLength(1);
  expect([..."import type { a } from 'mcp-parley/client';".matchAll(IMPORT)]).toHaveLength(0);
});
