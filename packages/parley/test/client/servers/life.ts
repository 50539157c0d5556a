import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TEST_KEY } from '../../gate/wire-harness.js';

const MORTAL = fileURLToPath(new URL('mortal.ts', import.meta.url));

/** One life of the server in mortal.ts. */
export interface Life {
  readonly port: number;
  /** Resolves when the tool has its answer, and works. */
  readonly isWorking: Promise<unknown>;
  /** SIGKILL, as a crash or a scheduler does it. */
  kill(): Promise<void>;
}

/** Starts a process. Those of one port are one server to their clients. */
export async function live(
  options: { readonly port?: number; readonly hangs?: boolean } = {},
): Promise<Life> {
  const { port = 0, hangs = false } = options;
  const { HANG: _, ...env } = process.env;
  const child = fork(MORTAL, {
    execArgv: ['--import', 'tsx'],
    env: { ...env, PARLEY_KEYS: TEST_KEY, PORT: String(port), ...(hangs && { HANG: '1' }) },
  });
  const died = once(child, 'exit');
  const next = (): Promise<unknown> =>
    Promise.race([
      once(child, 'message').then(([message]: unknown[]) => message),
      died.then(([code, signal]: unknown[]) =>
        Promise.reject(new Error(`it ended: ${String(code ?? signal)}`)),
      ),
    ]);
  const listening = await next();
  const isWorking = next();
  isWorking.catch(() => undefined);
  return {
    port: Number(listening),
    isWorking,
    kill: async () => {
      child.kill('SIGKILL');
      await died;
    },
  };
}
