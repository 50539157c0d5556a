/**
 * What asker and answerers share: a folder, in which each call that is not over is a file. Of several who go on with
 * one call, one does: `fileStore` saves over what it expects, and over nothing else. `docs/distributed-clients.md` has
 * the same with a row of a database.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileStore, type FlowStore, type SavedFlow } from 'mcp-parley/client';

/** Where a call stands. One that was sent, and not answered, may be done or not. */
export type Place = 'waiting' | 'sent' | 'ended';

/** How a call ended. */
export interface End {
  readonly outcome: 'answered' | 'settled' | 'expired';
  readonly text: string;
}

export class Queue {
  readonly #open: string;
  readonly #ended: string;

  private constructor(folder: string) {
    this.#open = join(folder, 'open');
    this.#ended = join(folder, 'ended');
  }

  /** Opens a queue. What is in it lets its reader go on with the calls, so nobody else may look inside. */
  static async open(folder: string): Promise<Queue> {
    const queue = new Queue(folder);
    for (const path of [queue.#open, queue.#ended]) await mkdir(path, { recursive: true, mode: 0o700 });
    return queue;
  }

  /** Where a call stands, or nothing when there is none of this name. */
  async whereIs(id: string): Promise<Place | undefined> {
    if ((await readdir(this.#ended)).includes(`${id}.json`)) return 'ended';
    const flow = await this.look(id);
    if (flow === undefined) return undefined;
    return flow.sentAt === undefined ? 'waiting' : 'sent';
  }

  /** The calls that are not over. */
  async list(): Promise<{ readonly id: string; readonly place: Place }[]> {
    const files = (await readdir(this.#open)).filter((file) => file.endsWith('.json'));
    const ids = files.map((file) => file.slice(0, -'.json'.length));
    const calls = await Promise.all(ids.map(async (id) => ({ id, place: await this.whereIs(id) })));
    return calls.flatMap(({ id, place }) =>
      place === undefined || place === 'ended' ? [] : [{ id, place }],
    );
  }

  /** A call, to look at it. Undefined when it is over. */
  async look(id: string): Promise<SavedFlow | undefined> {
    return fileStore(this.#path(id)).load();
  }

  /** Where the driver saves a call. It stays there until `end` has written down how it ended. */
  store(id: string): FlowStore {
    const store = fileStore(this.#path(id));
    return {
      load: () => store.load(),
      save: (flow, previous) => store.save(flow, previous),
      clear: async () => undefined,
    };
  }

  /** Writes down how a call ended, and forgets the call. */
  async end(id: string, end: End): Promise<void> {
    await writeFile(join(this.#ended, `${id}.json`), JSON.stringify(end), { mode: 0o600 });
    await fileStore(this.#path(id)).clear();
  }

  #path(id: string): string {
    return join(this.#open, `${id}.json`);
  }
}
