import { describe, expect, it } from 'vitest';
import { fillMarkers } from '../../bench/publish/markers.js';

const PAGE = `# Page

<!-- bench:one -->
old
<!-- /bench -->

By hand.

<!-- bench:two -->
<!-- /bench -->
`;

describe('fillMarkers', () => {
  it('puts each part in its place, and leaves what was written by hand', () => {
    const filled = fillMarkers(PAGE, { one: '| a |', two: 'b\n' });
    expect(filled).toBe(PAGE.replace('\nold\n', '\n\n| a |\n\n').replace('two -->\n', 'two -->\n\nb\n\n'));
  });

  it('gives the same page when it is filled again', () => {
    const parts = { one: 'a', two: 'b' };
    const filled = fillMarkers(PAGE, parts);
    expect(fillMarkers(filled, parts)).toBe(filled);
  });

  it('puts in text as it is, also what a replacement would take for a pattern', () => {
    expect(fillMarkers(PAGE, { one: "$& $1 $'", two: '' })).toContain("$& $1 $'");
  });

  it('refuses a place that there is nothing for, and a part that has no place', () => {
    expect(() => fillMarkers(PAGE, { one: 'a' })).toThrow("a place for 'two'");
    expect(() => fillMarkers(PAGE, { one: 'a', two: 'b', three: 'c' })).toThrow('no place for three');
  });

  it.each([
    ['is not closed', '<!-- bench:one -->\n\n# More\n'],
    ['is not opened', 'text\n<!-- /bench -->\n'],
    ['is opened twice', '<!-- bench:one -->\n<!-- bench:one -->\n<!-- /bench -->\n'],
  ])('refuses a part that %s, rather than losing what stands there', (_, page) => {
    expect(() => fillMarkers(page, { one: 'a' })).toThrow('without its pair');
  });
});
