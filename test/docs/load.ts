import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll } from 'vitest';

// Inside the repository, so that packages and the aliases of the tests resolve; gone when the tests are done.
const scratch = new URL(`./.blocks-${process.pid}/`, import.meta.url);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs a program of the documentation, and gives what it exports. Files of earlier calls are its neighbours. */
export async function load(name: string, code: string): Promise<Record<string, unknown>> {
  const file = new URL(name, scratch);
  mkdirSync(scratch, { recursive: true });
  writeFileSync(file, code);
  return (await import(/* @vite-ignore */ file.pathname)) as Record<string, unknown>;
}
