import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of TypeScript. */
export interface CodeBlock {
  /** Where it stands: path from the root, and the line of its fence, from 1. */
  readonly file: string;
  readonly line: number;
  /** The words after `ts` on its fence. */
  readonly marks: readonly string[];
  readonly code: string;
}

/** One page of documentation. */
export interface Page {
  /** Path from the root. */
  readonly file: string;
  readonly text: string;
  readonly blocks: readonly CodeBlock[];
  /** What the page's fragments take as given: the contents of its `<!-- ts: … -->` comments. */
  readonly given: string;
  /** Modules that the page's programs import and do not show, by name: its `<!-- file name.ts: … -->` comments. */
  readonly modules: ReadonlyMap<string, string>;
  /** Anchors of its headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly { readonly target: string; readonly line: number }[];
}

const FENCE = /^( *)(```+)([^\n`]*)$/;

/** All pages whose code and links are checked. */
export function pages(): Page[] {
  const names = [
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...under('docs'),
    ...readmes('packages'),
  ];
  return names
    .filter((name) => exists(name))
    .map((name) => readPage(name, readFileSync(join(ROOT, name), 'utf8')));
}

function under(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => `${folder}/${file}`);
}

function readmes(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}/README.md`);
}

function exists(name: string): boolean {
  try {
    readFileSync(join(ROOT, name));
    return true;
  } catch {
    return false;
  }
}

/** Reads a page: its blocks, and what stands outside of them. */
function readPage(file: string, text: string): Page {
  const blocks: CodeBlock[] = [];
  const prose: string[] = [];
  let open: { indent: number; fence: string; info: string; line: number; code: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const match = FENCE.exec(line);
    if (open === undefined) {
      if (match === null) {
        prose.push(line);
        continue;
      }
      const [, indent = '', fence = '', info = ''] = match;
      open = { indent: indent.length, fence, info: info.trim(), line: index + 1, code: [] };
      prose.push('');
    } else {
      prose.push('');
      if (match !== null && match[2] === open.fence && match[3] === '') {
        const [language, ...marks] = open.info.split(/\s+/);
        if (language === 'ts') blocks.push({ file, line: open.line, marks, code: open.code.join('\n') });
        open = undefined;
      } else {
        open.code.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)));
      }
    }
  }
  if (open !== undefined) throw new Error(`${file}:${open.line}: a code block that does not end`);
  const given = [...text.matchAll(/<!-- ts:(.*?)-->/gs)].map((match) => match[1] ?? '').join('\n');
  const modules = new Map(
    [...text.matchAll(/<!-- file (\S+):(.*?)-->/gs)].map(([, name = '', module = '']) => [name, module]),
  );
  return { file, text, blocks, given, modules, anchors: anchorsOf(prose), links: linksOf(prose) };
}

function anchorsOf(prose: readonly string[]): Set<string> {
  const anchors = new Set<string>();
  for (const line of prose) {
    const heading = /^#{1,6} +(.*?)\s*#*$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

function linksOf(prose: readonly string[]): { target: string; line: number }[] {
  return prose.flatMap((line, index) => {
    const plain = line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length));
    return [...plain.matchAll(/\]\(<?([^()\s>]+)>?(?: "[^"]*")?\)/g)].map((match) => ({
      target: match[1] ?? '',
      line: index + 1,
    }));
  });
}
