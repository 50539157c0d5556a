/** What a call is doing, for a line on a screen. Rounds count from 1. */
export type DriveProgress =
  /** The request of this round leaves, or the answers to what a task asks. */
  | { readonly type: 'round'; readonly round: number }
  /** The server wants to be called again, or a task to be looked at. This round waits for `ms` before it. */
  | { readonly type: 'pause'; readonly round: number; readonly ms: number };

/** Calls a listener that is told what happens, and has no say in it: what it throws is dropped. */
export function telling<T>(listener: ((event: T) => void) | undefined): (event: T) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch {
      // Whoever wants to stop a call has a signal, and `beforeRetry`.
    }
  };
}
