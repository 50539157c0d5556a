/**
 * Writes JSON of any depth. `JSON.stringify` overflows the stack at some thousand levels, and servers are to be shown
 * such input.
 */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return writeDeep(value);
  }
}

/** A text that is written as it is. */
interface Literal {
  readonly literal: string;
}

function writeDeep(value: unknown): string {
  const parts: string[] = [];
  const waiting: (Literal | { readonly value: unknown })[] = [{ value }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if ('literal' in next) parts.push(next.literal);
    else if (typeof next.value !== 'object' || next.value === null)
      parts.push(JSON.stringify(next.value) ?? 'null');
    else waiting.push(...partsOf(next.value).toReversed());
  }
  return parts.join('');
}

function partsOf(value: object): (Literal | { readonly value: unknown })[] {
  const isList = Array.isArray(value);
  const members = Object.entries(value)
    .filter(([, member]) => isList || member !== undefined)
    .flatMap(([name, member], index) => [
      { literal: `${index === 0 ? '' : ','}${isList ? '' : `${JSON.stringify(name)}:`}` },
      { value: member as unknown },
    ]);
  return [{ literal: isList ? '[' : '{' }, ...members, { literal: isList ? ']' : '}' }];
}
