import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pages, ROOT, type Page } from './markdown.js';

const all = pages();
const byFile = new Map(all.map((page) => [page.file, page]));

function fault(page: Page, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page.file : normalize(join(dirname(page.file), path));
  if (file.startsWith('..')) return 'leads out of the repository';
  if (!existsSync(join(ROOT, file))) return 'no such file';
  const to = byFile.get(file);
  if (anchor !== undefined && to !== undefined && !to.anchors.has(anchor)) return 'no such heading';
  return undefined;
}

describe('links in the documentation', () => {
  it.each(all.map((page) => [page.file, page] as const))('%s: each leads somewhere', (file, page) => {
    const broken = page.links.flatMap(({ target, line }) => {
      const reason = fault(page, target);
      return reason === undefined ? [] : [`${file}:${line} (${target}) ${reason}`];
    });
    expect(broken).toEqual([]);
  });
});

describe('the security model', () => {
  it('names tests that are there, word for word', () => {
    const page = byFile.get('docs/security.md');
    // A test is named as [file](path) “name”, and more names after it.
    const named = [
      ...(page?.text ?? '').matchAll(/\]\((\.\.\/(?:packages|test)\/[^)]*\.ts)\)((?:,? “[^”]+”)+)/g),
    ];
    const missing = named.flatMap(([, path = '', names = '']) => {
      const text = readFileSync(join(ROOT, 'docs', path), 'utf8').replaceAll(/\\(['"`])/g, '$1');
      return [...names.matchAll(/“([^”]+)”/g)].flatMap(([, name = '']) =>
        text.includes(name) ? [] : [`${path} “${name}”`],
      );
    });
    expect(named.length).toBeGreaterThan(15);
    expect(missing).toEqual([]);
  });
});
