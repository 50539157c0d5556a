/**
 * A bounded cache of derived keys, least recently used out first.
 *
 * The sealers put a key in only after it authenticated a token: otherwise anybody could fill it by sending tokens
 * with made-up salts.
 */
export class DerivedKeyCache<T> {
  readonly #entries = new Map<string, T>();
  readonly #size: number;

  /** @param size how many keys are kept; with 0 none is */
  constructor(size: number) {
    this.#size = size;
  }

  /** The key under this id, which becomes the most recently used. */
  get(id: string): T | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  /** Keeps a key, and drops the least recently used one if there are too many. */
  set(id: string, entry: T): void {
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    if (this.#entries.size <= this.#size) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
