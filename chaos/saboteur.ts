/**
 * Faults that a driver outside of a process can hardly aim: between any two steps of a request its process dies,
 * the store's reply comes late, or the store cannot be reached for a while. Wraps the client of a store, so that
 * each of its commands may be hit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.js';
import type { Endpoint, ServerMessage } from './wire.js';

/** What may happen to a command, and how often. `die-after`: the store did it, and nobody was told. */
const ODDS = { 'die-before': 1 / 2_500, 'die-after': 1 / 2_500, late: 1 / 500, partition: 1 / 900 } as const;

/** How long, in ms: on both sides of `ledgerTimeout` (600) and `lease` (1,200). */
const MS = { late: [400, 1_500], partition: [300, 1_800] } as const;

type Command = (...args: readonly unknown[]) => unknown;

/** Spoils the connection to one store. */
export class Saboteur {
  readonly #store: Endpoint;
  readonly #random: Random;
  readonly #tell: (message: ServerMessage) => void;
  #cutOffUntil = 0;

  constructor(store: Endpoint, random: Random, tell: (message: ServerMessage) => void) {
    this.#store = store;
    this.#random = random;
    this.#tell = tell;
  }

  /**
   * The same client, with the commands of these names spoilt. What a command named in `lends` resolves with is
   * spoilt too: a pool lends clients.
   */
  spoil<T extends object>(client: T, commands: readonly string[], lends?: string): T {
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const method = (member as Command).bind(target);
        if (name === lends) return async () => this.spoil((await method()) as object, commands);
        if (typeof name !== 'string' || !commands.includes(name)) return method;
        return (...args: readonly unknown[]) => this.#run(() => method(...args));
      },
    });
  }

  async #run(command: () => unknown): Promise<unknown> {
    const fate = this.#draw();
    if (fate === 'partition') {
      const [from, ms] = [Date.now(), this.#random.int(...MS.partition)];
      this.#cutOffUntil = from + ms;
      this.#tell({ type: 'partition', store: this.#store, from, to: from + ms });
    }
    if (Date.now() < this.#cutOffUntil) throw new Error('The store cannot be reached (on purpose).');
    if (fate === 'die-before') die();
    const from = Date.now();
    const reply = await command();
    if (fate === 'die-after') die();
    const onPurpose = fate === 'late';
    if (onPurpose) await sleep(this.#random.int(...MS.late));
    const to = Date.now();
    if (to - from >= MS.late[0]) this.#tell({ type: 'late', onPurpose, store: this.#store, from, to });
    return reply;
  }

  #draw(): keyof typeof ODDS | undefined {
    let at = this.#random.next();
    for (const [fate, odds] of Object.entries(ODDS)) {
      if (at < odds) return fate as keyof typeof ODDS;
      at -= odds;
    }
    return undefined;
  }
}

/** As a crash: nothing is put in order, and nothing told. The runner sees it, and starts another process. */
function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
}
