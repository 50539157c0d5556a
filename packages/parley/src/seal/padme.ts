/**
 * The length that Padmé pads `length` bytes to: leaks O(log log n) bits of the length, costs at most 12 %.
 * Nikitin et al., "Reducing Metadata Leakage from Encrypted Files and Communication with PURBs", PoPETs 2019,
 * section 4, algorithm 1.
 *
 * @param length in bytes, under 2^31
 */
export function padmeLength(length: number): number {
  if (length < 2) return length;
  const exponent = 31 - Math.clz32(length);
  const exponentBits = 32 - Math.clz32(exponent);
  const mask = (1 << (exponent - exponentBits)) - 1;
  return length + (-length & mask);
}
