import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tellGuard } from './guard.js';

/** A server of its own, on a loopback port that nobody else has, with its data in a temporary folder. */
export interface Service {
  readonly url: string;
  readonly pid: number | undefined;
  /** Ends it as an operator would, and waits until it is gone. */
  stop(): Promise<void>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again after `stop` or `kill`, on the same port with the same data. */
  start(): Promise<void>;
  /** Ends it, and removes its data. */
  dispose(): Promise<void>;
}

/** How a service is run. */
export interface ServiceKind {
  readonly name: string;
  readonly file: string;
  readonly args: (folder: string, port: number) => readonly string[];
  readonly url: (port: number) => string;
  /** What it writes when it takes connections. */
  readonly ready: RegExp;
  readonly stop: NodeJS.Signals;
  readonly kill: NodeJS.Signals;
  /** Whom it runs as, where that is not who we are. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Makes the folder ready, once. */
  readonly prepare?: (folder: string) => Promise<void>;
}

const START_WITHIN = 20_000;
const STOP_WITHIN = 10_000;
const ATTEMPTS = 5;

/** Starts a service on a free port. */
export async function startService(kind: ServiceKind): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), `parley-${kind.name}-`));
  tellGuard('remove', folder);
  try {
    await kind.prepare?.(folder);
    for (let attempt = 1; ; attempt += 1) {
      const port = await freePort();
      const service = new RunningService(kind, folder, port);
      try {
        await service.start();
        return service;
      } catch (error) {
        // Somebody took the port between our look and the start.
        if (attempt === ATTEMPTS) throw error;
      }
    }
  } catch (error) {
    remove(folder);
    throw error;
  }
}

class RunningService implements Service {
  readonly url: string;
  readonly #kind: ServiceKind;
  readonly #folder: string;
  readonly #port: number;
  #child: ChildProcess | undefined;

  constructor(kind: ServiceKind, folder: string, port: number) {
    this.url = kind.url(port);
    this.#kind = kind;
    this.#folder = folder;
    this.#port = port;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    if (this.#child !== undefined) return;
    const { name, file, args, ready, kill, user } = this.#kind;
    const child = spawn(file, args(this.#folder, this.#port), {
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // Ctrl+C on the terminal is not for it: the guard ends it in an orderly way
      ...user,
    });
    this.#child = child;
    child.once('exit', () => {
      tellGuard('forget', child.pid ?? 0);
      if (this.#child === child) this.#child = undefined;
    });
    if (child.pid !== undefined) tellGuard('end', child.pid, kill);
    let output = '';
    await new Promise<void>((resolve, reject) => {
      const fail = (reason: string) => {
        child.kill('SIGKILL');
        reject(new Error(`${name} did not start: ${reason}\n${output.slice(-2_000)}`));
      };
      const timer = setTimeout(() => fail('it takes too long'), START_WITHIN);
      const read = (chunk: Buffer) => {
        if (ready.test(output)) return;
        output += chunk.toString();
        if (!ready.test(output)) return;
        clearTimeout(timer);
        resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', (error) => (clearTimeout(timer), fail(error.message)));
      child.once('exit', (code, signal) => (clearTimeout(timer), fail(`it ended (${code ?? signal})`)));
    });
    // It must not keep alive the process that started it.
    child.unref();
    for (const stream of [child.stdout, child.stderr])
      (stream as unknown as { unref?: () => void }).unref?.();
  }

  async stop(): Promise<void> {
    await this.#end(this.#kind.stop);
  }

  async kill(): Promise<void> {
    await this.#end(this.#kind.kill);
  }

  async dispose(): Promise<void> {
    await this.kill();
    remove(this.#folder);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.ref();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN);
      child.once('exit', () => (clearTimeout(timer), resolve()));
      child.kill(signal);
    });
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  tellGuard('keep', folder);
}

/** A loopback port that nobody has at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
