import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * Imports a package as another file sees it.
 *
 * @param file address of that file
 * @returns undefined when it is not installed there, or has no such entry.
 */
export async function importAs<T>(file: string, specifier: string): Promise<T | undefined> {
  try {
    const path = createRequire(file).resolve(specifier);
    return (await import(pathToFileURL(path).href)) as T;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether an import failed since there is no such package, or no such entry in it. */
export function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return (
    code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || code === 'ERR_PACKAGE_PATH_NOT_EXPORTED'
  );
}
