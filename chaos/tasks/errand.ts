/**
 * One client and its errand: begins it, answers what the task asks (partly, wrongly, twice, in two ways at once, too
 * late), and writes down what it saw.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../random.js';
import type { Reply, TaskClient } from './client.js';
import { SHORTEST, type ErrandArguments } from './wire.js';

/** How often clients do what. */
const ODDS = {
  twice: 0.2,
  wrong: 0.12,
  malformed: 0.1,
  unknown: 0.1,
  partial: 0.6,
  again: 0.3,
  race: 0.1,
  cancel: 0.03,
} as const;

/** Pause between two looks, in ms. */
const LOOK_MS = [80, 320] as const;

/** Longest that a task may take, in ms: far more than any kill costs. */
const PATIENCE_MS = 90_000;

/** What a client saw of one question on the wire. */
export interface Sighting {
  readonly wire: string;
  /** The question's text; a second one under the same key is a violation. */
  readonly message: string;
  /** Words that were sent while it was open, and acknowledged, or sent at the same time. Empty: not answered yet. */
  words: string[];
}

/** What came of an errand, as its client saw it. */
export interface ErrandReport {
  readonly arguments: ErrandArguments;
  readonly taskIds: ReadonlySet<string>;
  readonly sightings: readonly Sighting[];
  readonly cancelled: boolean;
  readonly end: Reply | undefined;
  /** What it saw by itself that must not be. */
  readonly violations: readonly string[];
}

/** What is counted. */
export type Mischief = keyof typeof ODDS | 'late';

/** Runs errands, each once. */
export class Errand {
  readonly #client: TaskClient;
  readonly #random: Random;
  readonly #arguments: ErrandArguments;
  readonly #count: (mischief: Mischief) => void;
  readonly #taskIds = new Set<string>();
  readonly #sightings = new Map<string, Sighting>();
  readonly #violations: string[] = [];
  #cancelled = false;

  constructor(
    client: TaskClient,
    random: Random,
    args: ErrandArguments,
    count: (mischief: Mischief) => void,
  ) {
    this.#client = client;
    this.#random = random;
    this.#arguments = args;
    this.#count = count;
  }

  async run(): Promise<ErrandReport> {
    let end: Reply | undefined;
    try {
      const id = await this.#begin();
      const willCancel = this.#decides('cancel');
      const until = performance.now() + PATIENCE_MS;
      while (end === undefined && performance.now() < until) {
        await sleep(this.#random.int(...LOOK_MS));
        const task = await this.#client.call('tasks/get', id, { taskId: id });
        if (isEnd(task)) end = task;
        else if (task.status === 'input_required') {
          if (willCancel && !this.#cancelled) await this.#cancel(id);
          else await this.#answer(id, task);
        }
      }
      if (end !== undefined) await this.#meddle(id);
    } catch (error) {
      this.#violations.push(error instanceof Error ? error.message : String(error));
    }
    return {
      arguments: this.#arguments,
      taskIds: this.#taskIds,
      sightings: [...this.#sightings.values()],
      cancelled: this.#cancelled,
      end,
      violations: this.#violations,
    };
  }

  /** The rounds before the task. The last one may come twice at once: it makes one task. */
  async #begin(): Promise<string> {
    const call = { name: 'errand', arguments: this.#arguments };
    const { requestState } = await this.#client.call('tools/call', 'errand', call);
    const inputResponses = { begin: { action: 'accept', content: { confirm: true } } };
    const last = { ...call, requestState, inputResponses };
    const times = this.#decides('twice') ? 2 : 1;
    const replies = await Promise.all(
      Array.from({ length: times }, () => this.#client.call('tools/call', 'errand', last)),
    );
    for (const { taskId } of replies) {
      if (taskId === undefined) throw new Error('The round was not answered with a task.');
      this.#taskIds.add(taskId);
    }
    const [id = ''] = this.#taskIds;
    return id;
  }

  /** Answers what is open: all of it, or a part. */
  async #answer(id: string, { inputRequests = {} }: Reply): Promise<void> {
    const open = Object.entries(inputRequests).map(([wire, { params }]) => this.#see(wire, params.message));
    const some = open.length > 1 && this.#decides('partial') ? open.slice(0, 1) : open;
    const responses: Record<string, unknown> = {};
    if (this.#decides('unknown')) responses['nobody asked'] = { ignored: true };
    if (this.#decides('malformed')) {
      for (const { wire } of some) responses[wire] = { action: 'perhaps', content: {} };
      await this.#update(id, responses);
      return; // The questions stay open.
    }
    for (const sighting of some) responses[sighting.wire] = accept(this.#word(sighting));
    if (some.length > 0 && this.#decides('race')) {
      const other = Object.fromEntries(some.map((sighting) => [sighting.wire, accept(this.#word(sighting))]));
      await Promise.all([this.#update(id, responses), this.#update(id, other)]);
      return;
    }
    await this.#update(id, responses);
    if (this.#decides('again')) {
      // Acknowledged, so these come too late, whatever they say.
      await this.#update(id, Object.fromEntries(some.map(({ wire }) => [wire, accept('too late')])));
    }
  }

  #see(wire: string, message: string): Sighting {
    const seen = this.#sightings.get(wire);
    if (seen === undefined) {
      const sighting = { wire, message, words: [] };
      this.#sightings.set(wire, sighting);
      return sighting;
    }
    if (seen.words.length > 0)
      this.#violations.push(`'${wire}' was shown again after an answer to it was acknowledged`);
    if (seen.message !== message) this.#violations.push(`'${wire}' was used for two questions`);
    return seen;
  }

  /** A word for a question: one that is refused now and then, but only the first time that it is asked. */
  #word(sighting: Sighting): string {
    const wrong = !sighting.wire.includes('~') && this.#decides('wrong');
    const word = wrong ? 'x'.repeat(SHORTEST - 1) : `${sighting.wire} ${this.#random.int(0, 1e9)}`;
    sighting.words.push(word);
    return word;
  }

  async #cancel(id: string): Promise<void> {
    this.#cancelled = true;
    await this.#client.call('tasks/cancel', id, { taskId: id });
  }

  /** What has ended stays as it ended, whatever is sent. */
  async #meddle(id: string): Promise<void> {
    this.#count('late');
    const wires = [...this.#sightings.keys()];
    await this.#update(id, Object.fromEntries(wires.map((wire) => [wire, accept('far too late')])));
    await this.#client.call('tasks/cancel', id, { taskId: id });
  }

  async #update(id: string, inputResponses: object): Promise<void> {
    await this.#client.call('tasks/update', id, { taskId: id, inputResponses });
  }

  #decides(mischief: keyof typeof ODDS): boolean {
    const does = this.#random.chance(ODDS[mischief]);
    if (does) this.#count(mischief);
    return does;
  }
}

function accept(word: string): object {
  return { action: 'accept', content: { word } };
}

function isEnd({ status }: Reply): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}
