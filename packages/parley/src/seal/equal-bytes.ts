/**
 * Compares two byte strings in a time that depends only on their lengths, so that a caller cannot find a digest
 * byte by byte. Different lengths are unequal; lengths are public here.
 */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index += 1) {
    difference |= (a[index] as number) ^ (b[index] as number);
  }
  return difference === 0;
}
