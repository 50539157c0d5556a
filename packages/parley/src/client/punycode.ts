/** Longest label of a host name without its `xn--`. */
const LONGEST = 59;

/** Decodes one label of a host name without its `xn--` (RFC 3492). `undefined` when it is none. */
export function decodePunycode(label: string): string | undefined {
  if (label.length > LONGEST) return undefined;
  const cut = label.lastIndexOf('-');
  const output = cut > 0 ? Array.from(label.slice(0, cut), codePoint) : [];
  let [code, index, bias] = [128, 0, 72];
  for (let at = cut > 0 ? cut + 1 : 0; at < label.length;) {
    const before = index;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = digitOf(label.codePointAt(at) ?? 0);
      at += 1;
      if (digit === undefined || at > label.length) return undefined;
      index += digit * weight;
      const threshold = Math.min(Math.max(k - bias, 1), 26);
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    const length = output.length + 1;
    bias = adapt(index - before, length, before === 0);
    code += Math.floor(index / length);
    index %= length;
    if (code > 0x10_ff_ff) return undefined;
    output.splice(index, 0, code);
    index += 1;
  }
  return String.fromCodePoint(...output);
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function digitOf(code: number): number | undefined {
  if (code >= 48 && code <= 57) return code - 22;
  if (code >= 97 && code <= 122) return code - 97;
  return undefined;
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : Math.floor(delta / 2);
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}
