/** What stands in place of a state. */
const MARK = '[requestState]';

/** Shorter ones cannot be told from other text, and hold nothing worth hiding. */
const LEAST = 8;

/** So many characters tell that a state begins there, also where an echo was cut off. */
const HEAD = 24;

/**
 * Takes a state out of an error that came with a response: servers and proxies quote what they were sent, and
 * transports put that into messages. The error itself stays what it was, so that `instanceof` and codes hold.
 */
export function scrub(error: unknown, state: string | undefined): void {
  if (state === undefined || state.length < LEAST) return;
  // In a quoted body the state stands as JSON wrote it, and in a log of such a body as JSON wrote that.
  const quoted = inJson(state);
  const forms = [...new Set([state, quoted, inJson(quoted)])];
  clean(error, forms, new Set());
}

function clean(value: unknown, forms: readonly string[], seen: Set<object>): void {
  if (typeof value !== 'object' || value === null || seen.has(value) || seen.size > 1000) return;
  seen.add(value);
  for (const name of Object.getOwnPropertyNames(value)) {
    const property = Object.getOwnPropertyDescriptor(value, name);
    if (property === undefined) continue;
    // `stack` of an error is an accessor on some engines.
    const held: unknown =
      'value' in property ? property.value : name === 'stack' ? Reflect.get(value, name) : 0;
    if (typeof held !== 'string') {
      clean(held, forms, seen);
      continue;
    }
    const cleaned = without(held, forms);
    if (cleaned !== held && property.configurable === true) {
      Object.defineProperty(value, name, {
        value: cleaned,
        writable: true,
        configurable: true,
        enumerable: property.enumerable === true,
      });
    }
  }
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function without(text: string, forms: readonly string[]): string {
  let result = '';
  let from = 0;
  for (;;) {
    const starts = forms.map((form) => text.indexOf(form.slice(0, HEAD), from)).filter((at) => at >= 0);
    if (starts.length === 0) return result + text.slice(from);
    const at = Math.min(...starts);
    // Forms begin alike: the one that goes on the longest is the one that stands there.
    const length = Math.max(...forms.map((form) => commonLength(text, at, form)));
    result += text.slice(from, at) + MARK;
    from = at + length;
  }
}

function commonLength(text: string, at: number, form: string): number {
  let length = 0;
  while (length < form.length && text[at + length] === form[length]) length += 1;
  return length;
}
