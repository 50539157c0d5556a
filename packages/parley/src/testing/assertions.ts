/* What the exported suites hold things to, without a test framework. */

/** @throws Error naming what is not as it should be. */
export function equal(actual: string | number | boolean | undefined, expected: unknown, what: string): void {
  if (actual !== expected) throw new Error(`${what}: expected ${String(expected)}, got ${String(actual)}`);
}

/** @throws Error when a condition does not hold. */
export function ensure(condition: boolean, what: string): void {
  if (!condition) throw new Error(`not so: ${what}`);
}

/** As the library draws keys and owners: base64url. */
export function random(bytes: number): string {
  const drawn = crypto.getRandomValues(new Uint8Array(bytes));
  return btoa(String.fromCharCode(...drawn))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** For stores with clocks of their own. */
export function sleep(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms));
}
