import { describe, expect, it } from 'vitest';
import { load } from './load.js';
import { pages, type CodeBlock } from './markdown.js';
import { typeCheck, type Complaint } from './type-check.js';

/*
 * Every block of TypeScript in the documentation compiles, as strictly as the sources do. What stands after
 * `ts` on the fence says what it is:
 *
 *     ts                        a whole program
 *     ts fragment               a part of a handler: the body of an asynchronous function, in which flow, flows,
 *                               parley, mcp, z and what the page's `<!-- ts: … -->` comments declare are there
 *     ts run                    a whole program with tests of its own, which are run as well
 *     ts wrong-type 2345        must not compile, and with these codes only (after `fragment`, if it is one)
 */

const MARKS = new Set(['fragment', 'run', 'wrong-type']);

const all = pages();
const blocks = all.flatMap((page) => page.blocks);
const checked = typeCheck(all);

function where({ file, line }: CodeBlock): string {
  return `${file}:${line}`;
}

function show({ file, line, code, message }: Complaint): string {
  return `${file}:${line} TS${code} ${message}`;
}

describe('code in the documentation', () => {
  it('was found, and its marks are known', () => {
    expect(blocks.length).toBeGreaterThan(20);
    const unknown = blocks.filter(
      ({ marks }) => !marks.every((mark) => MARKS.has(mark) || /^\d{4,5}$/.test(mark)),
    );
    expect(unknown.map(where)).toEqual([]);
  });

  it.each(blocks.map((block) => [where(block), block] as const))(
    '%s compiles, or fails as it says',
    (_, block) => {
      const complaints = checked.get(block) ?? [];
      const expected = block.marks.filter((mark) => /^\d+$/.test(mark));
      if (block.marks.includes('wrong-type')) {
        expect(
          complaints.map(({ code }) => String(code)),
          complaints.map(show).join('\n'),
        ).toEqual(expected);
      } else {
        expect(complaints.map(show)).toEqual([]);
      }
    },
  );
});

for (const block of blocks.filter(({ marks }) => marks.includes('run'))) {
  // Its `describe` and `it` belong to this file, since it is loaded while tests are collected.
  await load(`${where(block).replaceAll(/[^\w.]/g, '_')}.ts`, block.code);
}
