/** The server processes: started, killed, started again with other keys, and ended on every way out. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Timeline } from './timeline.js';
import type { ServerMessage } from './wire.js';

const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));

/** Longest wait for a process to listen, in ms. */
const START_MS = 30_000;

/** What a fleet tells of its processes. */
export interface FleetEvents {
  readonly message: (message: ServerMessage) => void;
  /** A process was killed by its saboteur. Another is on its way. */
  readonly killed: () => void;
  /** A process ended by itself. */
  readonly crash: (detail: string) => void;
}

/** One server: a port, and one process after another on it. */
export class Server {
  readonly name: string;
  readonly port: number;
  /** The keys that its next process gets. */
  keys: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #timeline: Timeline;
  readonly #events: FleetEvents;
  readonly #script: string;
  #child: ChildProcess | undefined;
  #lives = 0;
  #ended = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    name: string,
    port: number,
    keys: string,
    env: Readonly<Record<string, string>>,
    timeline: Timeline,
    events: FleetEvents,
    script: string,
  ) {
    this.name = name;
    this.port = port;
    this.keys = keys;
    this.#env = env;
    this.#timeline = timeline;
    this.#events = events;
    this.#script = script;
  }

  /** Starts its first process. */
  async start(): Promise<void> {
    await this.#inTurn(() => this.#start());
  }

  /** Kills its process without a warning, as a crash or a scheduler does, and starts another with `keys`. */
  async restart(): Promise<void> {
    await this.#inTurn(async () => {
      const fault = this.#timeline.begin('kill', this.#life);
      await this.#kill();
      await this.#start();
      fault.to = Date.now();
    });
  }

  /** Lets its process stand still for a while, as a machine does that is moved, or has no memory left. */
  async stall(ms: number): Promise<void> {
    await this.#inTurn(async () => {
      const child = this.#child;
      if (child === undefined) return;
      const fault = this.#timeline.begin('stall', this.#life);
      child.kill('SIGSTOP');
      await sleep(ms);
      child.kill('SIGCONT');
      fault.to = Date.now();
    });
  }

  /** Ends it, without waiting. It has nothing to put in order. */
  end(): void {
    this.#ended = true;
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined && isAlive(child)) child.kill('SIGKILL');
  }

  get #life(): string {
    return `${this.name}${this.#lives}`;
  }

  async #start(): Promise<void> {
    this.#lives += 1;
    const env = {
      ...process.env,
      ...this.#env,
      PARLEY_KEYS: this.keys,
      CHAOS_PORT: String(this.port),
      CHAOS_LIFE: this.#life,
    };
    const child = spawn(process.execPath, ['--import', 'tsx', this.#script], {
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2_000);
    });
    const life = this.#life;
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (signal === 'SIGKILL') {
        this.#revive();
        return;
      }
      this.#events.crash(`server ${life} ended by itself (${signal ?? code}): ${complaint}`);
    });
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`Server ${life} did not start. ${complaint}`)),
        START_MS,
      );
      const settle = (then: () => void) => (): void => {
        clearTimeout(timer);
        then();
      };
      child.on('message', (message: ServerMessage) => {
        if (message.type === 'listening') settle(resolve)();
        else this.#events.message(message);
      });
      child.once('exit', settle(resolve));
      child.once('error', settle(resolve));
    });
  }

  /** Its process was killed by itself. */
  #revive(): void {
    const fault = this.#timeline.begin('kill', this.#life);
    this.#events.killed();
    this.#inTurn(async () => {
      if (this.#child === undefined && !this.#ended) await this.#start();
      fault.to = Date.now();
    }).catch((error: unknown) => this.#events.crash(String(error)));
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || !isAlive(child)) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** One thing at a time: a restart for new keys waits for the restart after a kill. */
  #inTurn(task: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(task);
    this.#queue = done.catch(() => undefined);
    return done;
  }
}

/** All servers. */
export class Fleet {
  readonly servers: readonly Server[];

  private constructor(servers: readonly Server[]) {
    this.servers = servers;
    process.once('exit', () => this.end());
  }

  /**
   * Starts servers with these names, on free ports of the loopback interface.
   *
   * @param script the program that each of them runs.
   */
  static async start(
    names: readonly string[],
    keys: string,
    env: Readonly<Record<string, string>>,
    timeline: Timeline,
    events: FleetEvents,
    script: string = SERVER,
  ): Promise<Fleet> {
    const ports = await freePorts(names.length);
    const fleet = new Fleet(
      names.map((name, index) => new Server(name, ports[index] ?? 0, keys, env, timeline, events, script)),
    );
    await Promise.all(fleet.servers.map((server) => server.start()));
    return fleet;
  }

  end(): void {
    for (const server of this.servers) server.end();
  }
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Ports that were free a moment ago: whoever needs the same one again and again cannot ask for any. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => void server.close(resolve))));
  return ports;
}
