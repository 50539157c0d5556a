import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCES = fileURLToPath(new URL('../src', import.meta.url));

/** Who may know whom. Arrows run one way; what is not listed is forbidden. */
const MAY_KNOW: Readonly<Record<string, readonly string[]>> = {
  'quote-name': [],
  errors: ['quote-name'],
  form: ['quote-name'],
  seal: ['errors'],
  flow: ['errors', 'form'],
  carrier: ['errors', 'seal', 'flow'],
  ledger: ['errors'],
  gate: ['errors', 'seal', 'flow', 'carrier', 'ledger', '@modelcontextprotocol/server'],
  tasks: [
    'errors',
    'seal',
    'flow',
    'carrier',
    'gate',
    '@modelcontextprotocol/server',
    '@modelcontextprotocol/ext-tasks/core/v2',
  ],
  http: ['@modelcontextprotocol/server', '@modelcontextprotocol/node'],
  client: [
    'quote-name',
    'errors',
    'form',
    '@modelcontextprotocol/client',
    '@modelcontextprotocol/ext-tasks/core/v2',
  ],
  inspect: ['errors', 'seal', 'flow', 'carrier'],
  testing: ['errors', 'seal', 'flow', 'carrier', 'ledger', 'tasks'],
  index: ['errors', 'seal', 'flow', 'carrier', 'ledger', 'gate'],
};

/** What a part uses from outside, beside the parts. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  seal: [
    '#crypto',
    'node:buffer',
    'node:crypto',
    '@noble/hashes/sha2.js',
    '@noble/hashes/hkdf.js',
    '@noble/hashes/hmac.js',
  ],
  ledger: ['node:crypto', 'node:fs/promises', 'pg'],
  tasks: ['node:fs/promises', 'pg', 'graphile-worker'],
  http: ['node:async_hooks', 'node:buffer', 'node:events', 'node:http', 'node:net'],
  client: ['node:fs/promises', 'node:path', 'ipaddr.js'],
};

/** Drivers are optional: what is not behind a subpath of its own must not load one. */
const DRIVERS: ReadonlySet<string> = new Set([
  'redis',
  'pg',
  'graphile-worker',
  'node:crypto',
  'node:fs/promises',
]);
const SUBPATHS: readonly string[] = ['ledger/redis.ts', 'ledger/postgres.ts', 'tasks/postgres.ts'];

interface Import {
  readonly from: string;
  readonly specifier: string;
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(SOURCES, from), 'utf8');
  return [
    ...text.matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gms),
  ].map((match) => ({
    from,
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
  }));
});

function partOf(file: string): string {
  return file.split('/')[0]?.replace(/\.ts$/, '') ?? '';
}

function target({ from, specifier }: Import): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return relative(SOURCES, resolve(SOURCES, dirname(from), specifier.replace(/\.js$/, '.ts')));
}

describe('the architecture', () => {
  it('was read', () => {
    expect(files.length).toBeGreaterThan(40);
    expect(imports.length).toBeGreaterThan(100);
    expect(new Set(files.map(partOf))).toEqual(new Set(Object.keys(MAY_KNOW)));
  });

  it.each(Object.keys(MAY_KNOW))('%s knows only what it may', (part) => {
    const known = imports
      .filter(({ from }) => partOf(from) === part)
      .map((each) => {
        const file = target(each);
        return file === undefined ? each.specifier : partOf(file);
      })
      .filter((other) => other !== part);
    const allowed = new Set([...(MAY_KNOW[part] ?? []), ...(MAY_USE[part] ?? [])]);
    expect([...new Set(known)].filter((other) => !allowed.has(other))).toEqual([]);
  });

  it('parts are entered by their index only', () => {
    const through = imports.filter((each) => {
      const file = target(each);
      return (
        file !== undefined &&
        partOf(file) !== partOf(each.from) &&
        !['errors.ts', 'quote-name.ts'].includes(file)
      );
    });
    expect(through.map(target).filter((file) => !file?.endsWith('/index.ts'))).toEqual([]);
  });

  it('drivers are reached through their subpaths only', () => {
    const behind = files.filter((file) => /^(ledger|tasks)\/(redis|postgres)/.test(file));
    expect(behind).toEqual(expect.arrayContaining([...SUBPATHS]));
    const into = imports.filter((each) => behind.includes(target(each) ?? '') && !behind.includes(each.from));
    expect(into).toEqual([]);
    const outside = imports.filter(
      ({ from, specifier }) =>
        DRIVERS.has(specifier) &&
        !behind.includes(from) &&
        from !== 'seal/crypto.node.ts' &&
        !from.startsWith('client/file-'),
    );
    expect(outside).toEqual([]);
    for (const { from, specifier } of imports.filter(({ specifier }) => specifier === 'pg')) {
      const text = readFileSync(join(SOURCES, from), 'utf8');
      expect(text, `${from} imports types of ${specifier} only`).not.toMatch(
        /^import (?!type)[^;]*from 'pg'/m,
      );
    }
  });

  it('has no cycles, types included', () => {
    const edges = new Map(
      files.map((file) => [file, imports.filter(({ from }) => from === file).map(target)]),
    );
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file))
        throw new Error(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`);
      if (done.has(file)) return;
      for (const next of edges.get(file) ?? []) if (next !== undefined) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(done.size).toBe(files.length);
  });

  it('the core takes time and randomness from outside', () => {
    const offenders = files
      .filter((file) => ['flow', 'seal', 'carrier'].includes(partOf(file)))
      .filter((file) => /\bDate\.now\b|\bMath\.random\b/.test(readFileSync(join(SOURCES, file), 'utf8')));
    expect(offenders).toEqual([]);
  });
});
