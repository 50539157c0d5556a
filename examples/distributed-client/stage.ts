/** What the story is told with: the folders, and whoever is started. */
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey } from 'mcp-parley';
import { Actor } from './processes.js';
import { Queue, type End, type Place } from './queue.js';

/** Something to be paid. */
export interface Expense {
  readonly reference: string;
  readonly amount: number;
  readonly purpose: string;
}

/** How a life of the server goes. */
export interface Life {
  /** How many days after the first one it is. */
  readonly daysLater?: number;
  /** When it dies by itself. */
  readonly dies?: 'before paying' | 'after paying';
}

export class Stage {
  readonly #queue: string;
  readonly #books: string;
  readonly #keys = generateKey();
  #port = 0;
  #day = 0;

  private constructor(folder: string) {
    this.#queue = join(folder, 'queue');
    this.#books = join(folder, 'books');
  }

  /** A stage in a temporary folder, which is gone when this process ends, however it ends. */
  static async open(): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'parley-distributed-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const stage = new Stage(folder);
    await mkdir(stage.#books);
    return stage;
  }

  /** Starts a server process. All have one address and the same keys, and nothing else in common. */
  async serve({ daysLater = 0, dies }: Life = {}): Promise<Actor> {
    this.#day = daysLater;
    const server = new Actor('server.ts', [], {
      PARLEY_KEYS: this.#keys,
      PORT: String(this.#port),
      BOOKS: this.#books,
      DAYS_LATER: String(daysLater),
      ...(dies !== undefined && { DIES: dies }),
    });
    this.#port = Number((await server.says('listening ')).split(' ')[1]);
    return server;
  }

  /** Starts Ann's process. */
  ask({ reference, amount, purpose }: Expense): Actor {
    return this.#host('asker.ts', [reference, String(amount), purpose]);
  }

  /** Starts a process that lists what waits. */
  list(): Actor {
    return this.#host('answerer.ts', []);
  }

  /** Starts the process of a manager who takes a call up. */
  answer({ reference }: Expense): Actor {
    return this.#host('answerer.ts', [reference]);
  }

  /** Whether the server's books have it. */
  async isPaid({ reference }: Expense): Promise<boolean> {
    return (await readdir(this.#books)).includes(reference);
  }

  /** Where in the queue a call stands. */
  async whereIs({ reference }: Expense): Promise<Place | undefined> {
    return (await Queue.open(this.#queue)).whereIs(reference);
  }

  /** Whether anything is left of a call but how it ended. */
  async isLeft({ reference }: Expense): Promise<boolean> {
    const files = await readdir(join(this.#queue, 'open'));
    return files.some((file) => file.startsWith(`${reference}.`));
  }

  /** How a call ended, as it is written down for whoever asked. */
  async endOf({ reference }: Expense): Promise<End | undefined> {
    const text = await readFile(join(this.#queue, 'ended', `${reference}.json`), 'utf8').catch(
      () => undefined,
    );
    return text === undefined ? undefined : (JSON.parse(text) as End);
  }

  #host(program: string, args: readonly string[]): Actor {
    return new Actor(program, args, {
      QUEUE: this.#queue,
      SERVER_URL: `http://127.0.0.1:${this.#port}/mcp`,
      TOKEN: `ann.day${this.#day}`,
    });
  }
}
