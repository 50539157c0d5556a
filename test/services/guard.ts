import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

let guard: ChildProcess | undefined;

/** Tells the guard what must not outlive this process; see `guard.mjs`. Begins it with the first word. */
export function tellGuard(
  word: 'end' | 'forget' | 'remove' | 'keep',
  subject: string | number,
  signal = '',
): void {
  guard ??= start();
  guard.stdin?.write(`${word}\t${subject}\t${signal}\n`);
}

function start(): ChildProcess {
  const script = fileURLToPath(new URL('guard.mjs', import.meta.url));
  // In a group of its own: Ctrl+C on the terminal is for the process that it watches.
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
  child.unref();
  child.stdin.on('error', () => undefined);
  (child.stdin as unknown as { unref?: () => void }).unref?.();
  return child;
}
