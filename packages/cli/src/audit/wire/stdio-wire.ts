import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { ProgramOutput } from '../../connect/program-output.js';
import { harmlessLine } from '../../safe-text.js';
import type { Wire, WireReply, WireRequest } from './message.js';
import { jsonLine } from './print.js';
import { isObject, isResponseTo, methodOfRequest, parse, readResponse, type Response } from './response.js';

/** A target that is a program. */
export interface StdioTarget {
  readonly command: readonly [program: string, ...args: string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long one request may take, in ms. */
  readonly timeoutMs: number;
  /** Ends everything. */
  readonly signal?: AbortSignal;
}

/** More than any line takes, in characters. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** Windows has no groups of processes. */
const HAS_GROUPS = process.platform !== 'win32';

/** How long a program may take to leave when it is asked to, in ms. */
const LEAVE_MS = 2000;

/** How long what a program wrote may be on its way when it has ended, in ms. */
const PIPES_MS = 200;

interface Pending {
  readonly id: number;
  readonly serverRequests: string[];
  readonly resolve: (response: Response) => void;
}

/**
 * The wire over stdio: a program, and a line a message. One that dies under an attack is started again for the next
 * request. There is one caller: whoever starts the program.
 */
export class StdioWire implements Wire {
  readonly kind = 'stdio';
  readonly #target: StdioTarget;
  #program: Program | undefined;
  #lastId = 0;

  constructor(target: StdioTarget) {
    this.#target = target;
  }

  /** Lines of the program that are no messages, so far; it must not write any. */
  get strayLines(): number {
    return this.#program?.strayLines ?? 0;
  }

  async send(request: WireRequest): Promise<WireReply> {
    const { signal, timeoutMs } = this.#target;
    signal?.throwIfAborted();
    const began = performance.now();
    const id = (this.#lastId += 1);
    const serverRequests: string[] = [];
    if (request.caller !== 'main') {
      return { failure: 'a program has one caller only', serverRequests, ms: 0 };
    }
    if (this.#program?.hasEnded !== false) this.#program = new Program(this.#target);
    const program = this.#program;
    const response = await new Promise<Response>((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(late);
        program.forget(id);
        reject(signal?.reason as Error);
      };
      const late = setTimeout(
        () => settle({ failure: `no response within ${timeoutMs / 1000} s` }),
        timeoutMs,
      );
      const settle = (response: Response): void => {
        clearTimeout(late);
        signal?.removeEventListener('abort', stop);
        program.forget(id);
        resolve(response);
      };
      signal?.addEventListener('abort', stop, { once: true });
      program.send(jsonLine(request, id), { id, serverRequests, resolve: settle });
    });
    return { ...response, serverRequests, ms: performance.now() - began };
  }

  print(request: WireRequest): string {
    return jsonLine(request, 1);
  }

  /** A program has no headers. */
  headerIn(): undefined {
    return undefined;
  }

  async close(): Promise<void> {
    await this.#program?.end();
  }
}

/** A program while it runs. */
class Program {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #output: ProgramOutput;
  readonly #pending = new Map<number, Pending>();
  readonly #closed: Promise<void>;
  readonly #decoder = new StringDecoder('utf8');
  #line = '';
  #ending: string | undefined;
  strayLines = 0;

  constructor({ command: [program, ...args], env }: StdioTarget) {
    // A group of its own, which is ended as a whole: a program may have started others.
    this.#child = spawn(program, args, { env, stdio: 'pipe', detached: HAS_GROUPS });
    this.#output = new ProgramOutput(this.#child.stderr);
    // What it did not read of a request is lost with it.
    this.#child.stdin.on('error', () => undefined);
    this.#child.stdout.on('data', (bytes: Buffer) => this.#read(this.#decoder.write(bytes)));
    this.#closed = new Promise((resolve) => {
      this.#child.on('error', (error: NodeJS.ErrnoException) => {
        this.#fail(`the program cannot be started (${error.code ?? error.name})`);
        resolve();
      });
      this.#child.on('close', (code, signal) => {
        this.#fail(`the program ended (${signal ?? code ?? 'unknown'})${this.#lastLine()}`);
        this.#kill('SIGKILL');
        resolve();
      });
    });
    this.#child.on('exit', () => {
      // Its own children may hold its pipes; then nothing else would say that it is over.
      setTimeout(() => {
        this.#child.stdout.destroy();
        this.#child.stderr.destroy();
      }, PIPES_MS);
    });
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  send(line: string, pending: Pending): void {
    if (this.#ending !== undefined) return pending.resolve({ failure: this.#ending });
    this.#pending.set(pending.id, pending);
    this.#child.stdin.write(`${line}\n`);
  }

  forget(id: number): void {
    this.#pending.delete(id);
  }

  /** Asks it to leave, and sees to it. */
  async end(): Promise<void> {
    if (this.#child.pid === undefined) return;
    this.#child.stdin.end();
    this.#kill('SIGTERM');
    const kill = setTimeout(() => this.#kill('SIGKILL'), LEAVE_MS);
    await this.#closed;
    clearTimeout(kill);
  }

  #read(text: string): void {
    const lines = `${this.#line}${text}`.split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') this.#take(line);
    if (this.#line.length <= MOST_CHARACTERS) return;
    this.#fail('more than 8 MiB in a line');
    this.#line = '';
    this.#kill('SIGKILL');
  }

  /** Sends a signal to the program and to all that it started. */
  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (!HAS_GROUPS) return void this.#child.kill(signal);
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody is left of the group.
    }
  }

  #take(line: string): void {
    const message = parse(line);
    if (!isObject(message)) {
      this.strayLines += 1;
      return;
    }
    const asked = methodOfRequest(message);
    // Over stdio nothing says which request it belongs to.
    if (asked !== undefined)
      for (const { serverRequests } of this.#pending.values()) serverRequests.push(asked);
    for (const { id, resolve } of this.#pending.values()) {
      const isIts = message['id'] === id || this.#pending.size === 1;
      if (isIts && isResponseTo(id, message)) resolve(readResponse(message));
    }
  }

  #fail(why: string): void {
    this.#ending ??= why;
    for (const { resolve } of this.#pending.values()) resolve({ failure: why });
  }

  #lastLine(): string {
    const line = harmlessLine(this.#output.lastLines.split('\n').at(-1) ?? '').slice(0, 200);
    return line === '' ? '' : `: ${line}`;
  }
}
