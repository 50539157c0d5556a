/** What is done to servers, stores and keys while the clients are at work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey } from 'mcp-parley';
import type { Service } from '../test/services/index.js';
import type { Fleet } from './fleet.js';
import type { Random } from './random.js';
import type { Report } from './report.js';
import type { Timeline } from './timeline.js';

/** Times between faults, how long servers stand still (longer than a lease), and how long stores are down, in ms. */
const MS = {
  kill: [1_000, 2_500],
  stall: [5_000, 9_000],
  stalled: [1_300, 2_200],
  store: [4_000, 9_000],
  down: [300, 1_500],
  rotation: [8_000, 12_000],
} as const;

/** Longest wait for the flows of the key that is to be dropped, in ms. Those that are still there must start over. */
const FAREWELL_MS = 8_000;

/** What the driver works on. */
export interface FaultTargets {
  readonly fleet: Fleet;
  readonly redis: Service;
  readonly postgres: Service;
  /** When the oldest flows that are under way began, in ms since 1970. */
  readonly oldest: () => number;
}

/** Drives all faults, each kind in a loop of its own, until it is stopped. */
export class FaultDriver {
  readonly #targets: FaultTargets;
  readonly #random: Random;
  readonly #report: Report;
  readonly #timeline: Timeline;
  readonly #stop = new AbortController();
  #key: string;
  #rotations = 0;

  /** @param key the one that all servers were started with. */
  constructor(targets: FaultTargets, key: string, random: Random, report: Report, timeline: Timeline) {
    this.#targets = targets;
    this.#key = key;
    this.#random = random;
    this.#report = report;
    this.#timeline = timeline;
  }

  /** Whole rotations so far. */
  get rotations(): number {
    return this.#rotations;
  }

  /** Runs until {@link stop}; then everything is up again. */
  async run(): Promise<void> {
    const { redis, postgres } = this.#targets;
    await Promise.all([
      this.#loop('kill', MS.kill, (random) => this.#kill(random)),
      this.#loop('stall', MS.stall, (random) => this.#stall(random)),
      this.#loop('redis', MS.store, (random) => this.#outage('redis', redis, random)),
      this.#loop('postgres', MS.store, (random) => this.#outage('postgres', postgres, random)),
      this.#loop('rotation', MS.rotation, () => this.#rotate()),
    ]);
  }

  stop(): void {
    this.#stop.abort();
  }

  async #loop(
    name: string,
    [min, max]: readonly [number, number],
    fault: (random: Random) => Promise<void>,
  ): Promise<void> {
    const random = this.#random.fork(name);
    while (!this.#stop.signal.aborted) {
      await this.#pause(random.int(min, max));
      if (!this.#stop.signal.aborted) await fault(random);
    }
  }

  async #kill(random: Random): Promise<void> {
    const server = random.pick(this.#targets.fleet.servers);
    if (server === undefined) return;
    this.#report.fault('kill');
    this.#report.note(`killing server ${server.name}`);
    await server.restart();
  }

  async #stall(random: Random): Promise<void> {
    const server = random.pick(this.#targets.fleet.servers);
    const ms = random.int(...MS.stalled);
    this.#report.fault('stall');
    this.#report.note(`stalling server ${server?.name} for ${ms} ms`);
    await server?.stall(ms);
  }

  async #outage(name: 'redis' | 'postgres', service: Service, random: Random): Promise<void> {
    const how = random.pick(['stop', 'kill'] as const);
    const ms = random.int(...MS.down);
    this.#report.fault(name);
    this.#report.note(`${how} ${name} for ${ms} ms`);
    const fault = this.#timeline.begin(name);
    await service[how]();
    await sleep(ms);
    await service.start();
    // Connections come back a little later.
    fault.to = Date.now() + 500;
  }

  /** Old, then old and new, then new and old, then new: each server is killed and started with the next keys. */
  async #rotate(): Promise<void> {
    const old = this.#key;
    const key = generateKey();
    await this.#phase('opens the new key', `${old},${key}`);
    const sealing = Date.now();
    await this.#phase('seals with the new key', `${key},${old}`);
    this.#timeline.epoch += 1;
    const sealed = Date.now();
    const until = sealed + FAREWELL_MS;
    while (this.#targets.oldest() < sealed && Date.now() < until) await this.#pause(50);
    const fault = this.#timeline.begin('keys-dropped');
    await this.#phase('drops the old key', key);
    fault.to = Date.now();
    this.#timeline.staleBefore = sealing;
    this.#key = key;
    this.#rotations += 1;
  }

  async #phase(what: string, keys: string): Promise<void> {
    this.#report.fault('rotation');
    this.#report.note(`rotation: each server ${what}`);
    for (const server of this.#targets.fleet.servers) {
      server.keys = keys;
      this.#report.fault('kill');
      await server.restart();
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}
