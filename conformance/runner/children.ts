import { spawn, type ChildProcess } from 'node:child_process';
import { ROOT } from './paths.js';

/** A process that was started here. */
export interface Child {
  readonly process: ChildProcess;
  /** Its exit code; null when it was killed. */
  readonly ended: Promise<number | null>;
  /** All that it has written so far, on both channels. */
  output(): string;
}

/** Starts processes and ends what is left of them. */
export class Children {
  readonly #running = new Set<ChildProcess>();
  readonly #verbose: boolean;
  #over = false;

  /** @param verbose also shows what they write, on standard error. */
  constructor(verbose: boolean) {
    this.#verbose = verbose;
  }

  /**
   * Starts a process in the root of the repository. Its standard input stays open while this process lives.
   *
   * @throws Error after `end`: when one leg fails, the other may be about to start something.
   */
  start(file: string, args: readonly string[]): Child {
    if (this.#over) throw new Error('The run is over.');
    // A group of its own, so that a process that it starts in turn can be ended with it.
    const child = spawn(file, args, { cwd: ROOT, stdio: 'pipe', detached: process.platform !== 'win32' });
    this.#running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        if (this.#verbose) process.stderr.write(chunk);
      });
    }
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', (code) => {
        this.#running.delete(child);
        resolve(code);
      });
    });
    // Whoever awaits it hears of a failure; nobody has to.
    ended.catch(() => undefined);
    return { process: child, ended, output: () => output };
  }

  /** Ends whatever still runs. Synchronous, for use when this process exits. */
  end(): void {
    this.#over = true;
    for (const { pid } of this.#running) {
      if (pid === undefined) continue;
      try {
        process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
      } catch {
        // It ended by itself a moment ago.
      }
    }
    this.#running.clear();
  }
}
