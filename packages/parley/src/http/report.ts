/** Tells the author's own callback of an error. What that throws is nobody's to handle, and must not end the process. */
export function report(onerror: ((error: Error) => void) | undefined, error: unknown): void {
  try {
    onerror?.(error instanceof Error ? error : new Error(String(error)));
  } catch {
    // As under the SDK's entry.
  }
}
