/** The server processes of the demo: started, listened to, killed, and ended on every way out. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The programs of this folder that are run as processes of their own. */
type Program = 'server.ts' | 'nightly-server.ts' | 'nightly-worker.ts';

/** Longest wait for a process to listen. Node and tsx take half a second on a quick machine. */
const START_MS = 30_000;

/** Longest wait for a line of the log; it is written before the answer, but comes by another way. */
const LINE_MS = 3_000;

/** One line of a server's log. */
export interface LogLine {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** One server process. */
export class ServerProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #lines: LogLine[] = [];
  readonly #waiting = new Set<() => void>();
  #stderr = '';

  constructor(name: string, env: Record<string, string>, program: Program = 'server.ts') {
    this.name = name;
    const file = fileURLToPath(new URL(program, import.meta.url));
    this.#child = spawn(process.execPath, ['--import', 'tsx', file], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const { stdout, stderr } = this.#child;
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.#note(line));
    stderr
      ?.setEncoding('utf8')
      .on('data', (text: string) => (this.#stderr = (this.#stderr + text).slice(-4_000)));
    this.#child.once('error', () => this.#wake()).once('exit', () => this.#wake());
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Its log so far. */
  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** What it complained of on standard error, in one line. */
  get complaint(): string {
    const lines = this.#stderr.split('\n').filter((line) => line.trim() !== '');
    return lines.find((line) => /^\S*Error\b/.test(line)) ?? lines.at(-1) ?? '';
  }

  /** The port it listens on, as soon as it does. */
  async port(): Promise<number> {
    const line = await this.lineAfter(0, ['listening'], START_MS);
    if (typeof line?.['port'] !== 'number')
      throw new Error(`Server ${this.name} did not start. ${this.complaint}`);
    return line['port'];
  }

  /** The first line from `index` on that tells one of these events; undefined when none comes. */
  async lineAfter(index: number, events: readonly string[], ms = LINE_MS): Promise<LogLine | undefined> {
    const deadline = Date.now() + ms;
    for (;;) {
      const found = this.#lines.slice(index).find(({ event }) => events.includes(event));
      const left = deadline - Date.now();
      if (found !== undefined || left <= 0 || !this.alive) return found;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.add(() => (clearTimeout(timer), resolve()));
      });
    }
  }

  /** Resolves with this process when it has told an event so many times. @throws Error when it does not in time. */
  async saw(event: string, { times = 1, within }: { times?: number; within: number }): Promise<this> {
    let index = 0;
    for (let seen = 0; seen < times; seen += 1) {
      const line = await this.lineAfter(index, [event], within);
      if (line === undefined)
        throw new Error(`${this.name} did not tell '${event}' in time. ${this.complaint}`);
      index = this.#lines.indexOf(line) + 1;
    }
    return this;
  }

  /** Kills it without a warning, as a crash or a scheduler does. */
  async kill(): Promise<void> {
    if (!this.alive) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  /** Ends it, without waiting. It has nothing to put in order. */
  end(): void {
    if (this.alive) this.#child.kill('SIGKILL');
  }

  #note(text: string): void {
    try {
      this.#lines.push(JSON.parse(text) as LogLine);
    } catch {
      this.#stderr = `${this.#stderr}\n${text}`.slice(-4_000);
    }
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** All server processes of one run. */
export class Fleet {
  readonly servers: readonly ServerProcess[];
  readonly #ports = new Map<number, ServerProcess>();

  /** Starts processes with these names; none outlives this one. */
  constructor(names: readonly string[], env: Record<string, string>) {
    this.servers = names.map((name) => new ServerProcess(name, env));
    process.once('exit', () => this.end());
  }

  /** The ports, once all listen. */
  async ports(): Promise<readonly number[]> {
    const ports = await Promise.all(this.servers.map((server) => server.port()));
    for (const [index, server] of this.servers.entries()) this.#ports.set(ports[index] ?? 0, server);
    return ports;
  }

  /** The server on a port, once all listen. */
  on(port: number): ServerProcess {
    const server = this.#ports.get(port);
    if (server === undefined) throw new Error(`No server of the demo listens on port ${port}.`);
    return server;
  }

  /** How often one of these events was told, by all servers together. */
  count(...events: readonly string[]): number {
    return this.servers.flatMap(({ lines }) => lines).filter(({ event }) => events.includes(event)).length;
  }

  end(): void {
    for (const server of this.servers) server.end();
  }
}
