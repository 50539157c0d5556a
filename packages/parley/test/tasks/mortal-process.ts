import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('servers/mortal-worker.ts', import.meta.url));

/** A worker in a process of its own. */
export interface MortalProcess {
  /** Resolves with the line of its stdout that begins so. */
  says(beginning: string): Promise<string>;
  tell(line: string): void;
  signal(signal: NodeJS.Signals): void;
  ended: Promise<unknown>;
}

export function mortalWorker(...args: readonly string[]): MortalProcess {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), WORKER, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let out = '';
  let heard = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    heard();
  });
  child.stdin.on('error', () => undefined);
  return {
    says: (beginning) =>
      new Promise((resolve) => {
        heard = () => {
          const line = out
            .split('\n')
            .slice(0, -1)
            .find((each) => each.startsWith(beginning));
          if (line !== undefined) resolve(line);
        };
        heard();
      }),
    tell: (line) => void child.stdin.write(`${line}\n`),
    signal: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => child.once('close', resolve)),
  };
}
