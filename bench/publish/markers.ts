/** A part of a page that is generated: `<!-- bench:NAME -->`, what was generated, `<!-- /bench -->`. */
const PART = /(<!-- bench:([\w-]+) -->\n)(?:(?!<!-- bench:)[^])*?(<!-- \/bench -->)/g;
const MARKER = /<!-- (?:bench:[\w-]+|\/bench) -->/g;

/**
 * Puts new text between the markers of a page, and leaves all else as it is.
 *
 * @throws Error when a marker has no pair, or names a part that there is none of; or when a part has no place.
 */
export function fillMarkers(page: string, parts: Readonly<Record<string, string>>): string {
  const found = new Set<string>();
  const filled = page.replaceAll(PART, (_, open: string, name: string, close: string) => {
    const text = parts[name];
    if (text === undefined) throw new Error(`The page has a place for '${name}', which is not generated.`);
    found.add(name);
    return `${open}\n${text.trim()}\n\n${close}`;
  });
  const pairs = [...page.matchAll(PART)].length;
  if ([...page.matchAll(MARKER)].length !== 2 * pairs) {
    throw new Error(
      'The page has a marker without its pair: each part is <!-- bench:NAME --> … <!-- /bench -->.',
    );
  }
  const lost = Object.keys(parts).filter((name) => !found.has(name));
  if (lost.length > 0) throw new Error(`The page has no place for ${lost.join(', ')}.`);
  return filled;
}
