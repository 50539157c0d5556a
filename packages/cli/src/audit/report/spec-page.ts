const SPECIFICATION = 'https://modelcontextprotocol.io/specification/2026-07-28';

/** Pages of the specification, by the word with which a rule begins. */
const PAGES: readonly (readonly [begins: RegExp, path: string])[] = [
  [/^(?:MRTR|SEP-2322)\b/i, '/basic/patterns/mrtr'], // the proposal became that page
  [/^Basic\b/i, '/basic/index'],
  [/^Streamable HTTP\b/i, '/basic/transports/streamable-http'],
  [/^Schema\b/i, '/schema'],
  [/^Elicitation\b/i, '/client/elicitation'],
  [/^Tools\b/i, '/server/tools'],
];

/** Where the specification says what an attack's rule refers to; its first page, where that is not known. */
export function specPage(rule: string): string {
  return SPECIFICATION + (PAGES.find(([begins]) => begins.test(rule))?.[1] ?? '');
}
