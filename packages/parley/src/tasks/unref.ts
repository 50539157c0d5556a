/** Lets a process end though a timer is set. Only Node's timers hold a process; elsewhere they are numbers. */
export function unref(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as NodeJS.Timeout).unref();
}
