import { join } from 'node:path';
import ts from 'typescript';
import { ROOT, type CodeBlock, type Page } from './markdown.js';

/** A complaint of the compiler, at the line of the page where it arose. */
export interface Complaint {
  readonly file: string;
  readonly line: number;
  readonly code: number;
  readonly message: string;
}

/** What every fragment may use without saying so, by name. */
const GIVEN: Readonly<Record<string, string>> = {
  z: `import * as z from 'zod';`,
  Parley: `import { Parley } from 'mcp-parley';`,
  McpFlow: `import type { McpFlow } from 'mcp-parley';`,
  Flow: `import type { Flow } from 'mcp-parley';`,
  Flows: `import type { Flows } from 'mcp-parley';`,
  McpServer: `import { McpServer } from '@modelcontextprotocol/server';`,
  flow: `declare const flow: import('mcp-parley').McpFlow;`,
  flows: `declare const flows: import('mcp-parley').Flows;`,
  parley: `declare const parley: import('mcp-parley').Parley;`,
  mcp: `declare const mcp: import('@modelcontextprotocol/server').McpServer;`,
};

// As strict as the tests, whose settings leave exactOptionalPropertyTypes out because the SDK's own types do not pass
// it. `mcp-parley` is the sources: the documentation is held against what is written, and needs no build.
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  types: ['node'],
  paths: {
    'mcp-parley': [join(ROOT, 'packages/parley/src/index.ts')],
    'mcp-parley/client': [join(ROOT, 'packages/parley/src/client/index.ts')],
    'mcp-parley/http': [join(ROOT, 'packages/parley/src/http/index.ts')],
    'mcp-parley/inspect': [join(ROOT, 'packages/parley/src/inspect/index.ts')],
    'mcp-parley/tasks': [join(ROOT, 'packages/parley/src/tasks/index.ts')],
    'mcp-parley/tasks/postgres': [join(ROOT, 'packages/parley/src/tasks/postgres.ts')],
    'mcp-parley/testing': [join(ROOT, 'packages/parley/src/testing/index.ts')],
    'mcp-parley/ledger/redis': [join(ROOT, 'packages/parley/src/ledger/redis.ts')],
    'mcp-parley/ledger/postgres': [join(ROOT, 'packages/parley/src/ledger/postgres.ts')],
    '#crypto': [join(ROOT, 'packages/parley/src/seal/crypto.node.ts')],
  },
};

const VIRTUAL = join(ROOT, '__docs__');

interface Source {
  readonly block: CodeBlock;
  readonly text: string;
  /** How many lines stand before the block's first. */
  readonly before: number;
}

/** Type-checks all blocks of these pages, in one program. */
export function typeCheck(all: readonly Page[]): ReadonlyMap<CodeBlock, readonly Complaint[]> {
  const sources = new Map<string, Source>();
  const texts = new Map<string, string>();
  for (const page of all) {
    // Under the root, so that packages resolve as they do for the project. Nothing is written there.
    const folder = join(VIRTUAL, page.file.replaceAll(/[^\w]/g, '-'));
    for (const [name, module] of page.modules) texts.set(join(folder, name), module);
    for (const block of page.blocks) {
      const source = { block, ...sourceOf(block, page.given) };
      sources.set(join(folder, `line-${block.line}.ts`), source);
      texts.set(join(folder, `line-${block.line}.ts`), source.text);
    }
  }
  const disk = ts.createCompilerHost(OPTIONS, true);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (name) => texts.has(name) || disk.fileExists(name),
    directoryExists: (name) => name.startsWith(VIRTUAL) || disk.directoryExists?.(name) === true,
    readFile: (name) => texts.get(name) ?? disk.readFile(name),
    getSourceFile: (name, options, ...rest) => {
      const text = texts.get(name);
      return text === undefined
        ? disk.getSourceFile(name, options, ...rest)
        : ts.createSourceFile(name, text, options, true);
    },
  };
  const program = ts.createProgram([...sources.keys()], OPTIONS, host);
  return new Map([...sources].map(([name, source]) => [source.block, complaints(program, name, source)]));
}

function complaints(program: ts.Program, name: string, { block, before }: Source): Complaint[] {
  const file = program.getSourceFile(name);
  const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return found.map(({ code, start, messageText }) => ({
    file: block.file,
    line: block.line + 1 + (file?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0) - before,
    code,
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }));
}

/** A whole program as it is; a fragment as the body of an asynchronous function. */
function sourceOf({ marks, code }: CodeBlock, given: string): { text: string; before: number } {
  if (!marks.includes('fragment')) return { text: `${code}\nexport {};\n`, before: 0 };
  const imports: string[] = [];
  const body = code.replaceAll(/^import\b[^;]*;/gm, (statement) => {
    imports.push(statement.replaceAll('\n', ' '));
    return statement.replaceAll(/[^\n]/g, '');
  });
  const own = `${imports.join('\n')}\n${given}`;
  const standard = Object.entries(GIVEN)
    .filter(([name]) => !declares(own, name))
    .map(([, declaration]) => declaration);
  const head = `${[...standard, own].join('\n')}\nexport async function fragment(): Promise<unknown> {\n`;
  return { text: `${head}${body}\nreturn undefined;\n}\n`, before: head.split('\n').length - 1 };
}

function declares(text: string, name: string): boolean {
  const imported = new RegExp(`^import\\b[^']*\\b${name}\\b[^']*'`, 'm');
  const declared = new RegExp(`\\b(?:const|let|function|class|interface|type)\\s+${name}\\b`);
  return imported.test(text) || declared.test(text);
}
