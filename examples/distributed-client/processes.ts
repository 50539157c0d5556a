/** The processes of the story: each is a real one, started, listened to, spoken to, killed. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Longest wait for a line. To start, a process takes half a second on a quick machine. */
const PATIENCE_MS = 30_000;

const running = new Set<ChildProcess>();

/** Ends whatever still runs. None outlives this process. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}
process.once('exit', endAll);

/** A process. */
export class Actor {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #ended: Promise<number | null>;
  #stderr = '';
  #wake: () => void = () => undefined;

  /** Starts a program of this folder. */
  constructor(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    const file = fileURLToPath(new URL(program, import.meta.url));
    this.#child = fork(file, args, {
      execArgv: ['--import', import.meta.resolve('tsx')],
      env: { ...process.env, ...env },
      silent: true,
    });
    running.add(this.#child);
    const { stdout, stderr } = this.#child;
    stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    if (stdout !== null) {
      createInterface({ input: stdout }).on('line', (line) => {
        this.#lines.push(line);
        this.#wake();
      });
    }
    this.#ended = once(this.#child, 'close').then(([code]: unknown[]) => {
      running.delete(this.#child);
      this.#wake();
      return code as number | null;
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** All that it said so far. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  get lastLine(): string {
    return this.#lines.at(-1) ?? '';
  }

  /** The first line that begins like this, as soon as it is said. @throws Error when it is not. */
  async says(beginning: string): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const line = this.#lines.find((said) => said.startsWith(beginning));
      if (line !== undefined) return line;
      const left = deadline - Date.now();
      if (left <= 0 || !running.has(this.#child)) throw new Error(`No '${beginning}' came. ${this.#stderr}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => (clearTimeout(timer), resolve());
      });
    }
  }

  /** Types a line. */
  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Its exit code; null when it was killed. */
  async ends(): Promise<number | null> {
    const code = await this.#ended;
    if (code === 1) throw new Error(`It failed. ${this.#stderr}`);
    return code;
  }

  /** Kills it, as a crash does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
