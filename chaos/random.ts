/** Seeded randomness: the same seed makes the same decisions, in whatever order the machine asks for them. */
import { createHash } from 'node:crypto';

/** The generator sfc32, seeded by a text. */
export class Random {
  readonly #path: string;
  readonly #state: Uint32Array;

  constructor(path: string) {
    this.#path = path;
    const digest = createHash('sha256').update(path).digest();
    this.#state = Uint32Array.from([0, 4, 8, 12], (offset) => digest.readUInt32LE(offset));
  }

  /** A generator of its own for a named thing. What it draws does not depend on what others have drawn. */
  fork(...labels: readonly (string | number)[]): Random {
    return new Random([this.#path, ...labels].join('/'));
  }

  /** A number in [0, 1). */
  next(): number {
    const [a = 0, b = 0, c = 0, counter = 0] = this.#state;
    const sum = (a + b + counter) >>> 0;
    this.#state.set([b ^ (b >>> 9), c + (c << 3), ((c << 21) | (c >>> 11)) + sum, counter + 1]);
    return sum / 2 ** 32;
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** True with a probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of several; undefined when there are none. */
  pick<T>(items: readonly [T, ...T[]]): T;
  pick<T>(items: readonly T[]): T | undefined;
  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.next() * items.length)];
  }
}
