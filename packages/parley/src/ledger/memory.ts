import { ConfigurationError, LedgerFull } from '../errors.js';
import type { ClaimRequest, ClaimResult, Fenced, Ledger } from './ledger.js';

/** How a memory ledger is bounded. */
export interface MemoryLedgerOptions {
  /** Records at most. A claim beyond that fails: to forget one that still counts would be to do it twice. Default 100,000. */
  readonly maxRecords?: number;
  /** Characters of stored values at most, for the same reason. Default 256 Mi. */
  readonly maxCharacters?: number;
  /** The clock, in ms since 1970. For tests. */
  readonly now?: () => number;
}

interface Record {
  readonly owner: string;
  readonly digest: string;
  readonly lapses: number;
  readonly expires: number;
  readonly value: string | undefined;
}

/** Expired records are looked for among this many each time that one is written: more than are added. */
const SWEEP = 4;

/**
 * A ledger in the memory of this process: at most once within it, and only as long as it lives. For tests, for
 * stdio servers, and for single processes whose restart may forget.
 *
 * @throws ConfigurationError when a bound is not a positive whole number.
 */
export function memoryLedger(options: MemoryLedgerOptions = {}): Ledger & { readonly size: number } {
  const { maxRecords = 100_000, maxCharacters = 256 * 1024 * 1024, now = Date.now } = options;
  for (const [name, bound] of Object.entries({ maxRecords, maxCharacters })) {
    if (Number.isSafeInteger(bound) && bound > 0) continue;
    throw new ConfigurationError(`${name} must be a positive whole number.`);
  }
  return new MemoryLedger(maxRecords, maxCharacters, now);
}

class MemoryLedger implements Ledger {
  readonly #records = new Map<string, Record>();
  readonly #maxRecords: number;
  readonly #maxCharacters: number;
  readonly #now: () => number;
  #characters = 0;
  #sweeping: MapIterator<[string, Record]> | undefined;

  constructor(maxRecords: number, maxCharacters: number, now: () => number) {
    this.#maxRecords = maxRecords;
    this.#maxCharacters = maxCharacters;
    this.#now = now;
  }

  /** Records held, expired ones that were not yet swept included. */
  get size(): number {
    return this.#records.size;
  }

  async claim({ key, owner, digest, lease, ttl, takeover }: ClaimRequest): Promise<ClaimResult> {
    const now = this.#now();
    const found = this.#find(key);
    if (found?.value !== undefined) return { type: 'settled', digest: found.digest, value: found.value };
    if (found !== undefined && found.owner !== owner) {
      const left = found.lapses - now;
      if (left > 0) return { type: 'running', digest: found.digest, left };
      if (!takeover || found.digest !== digest) return { type: 'lapsed', digest: found.digest };
    }
    const expires = now + Math.max(ttl, lease); // a record must not go while its work may be running
    this.#write(key, { owner, digest, lapses: now + lease, expires, value: undefined });
    return { type: 'granted' };
  }

  async settle({ key, owner, value, ttl }: Fenced & { value: string; ttl: number }): Promise<boolean> {
    const found = this.#find(key);
    if (found === undefined || found.owner !== owner) return false;
    if (found.value === undefined) this.#write(key, { ...found, value, expires: this.#now() + ttl });
    return true;
  }

  async extend({ key, owner, lease }: Fenced & { lease: number }): Promise<boolean> {
    const found = this.#find(key);
    if (found === undefined || found.owner !== owner || found.value !== undefined) return false;
    const lapses = this.#now() + lease;
    this.#write(key, { ...found, lapses, expires: Math.max(found.expires, lapses) });
    return true;
  }

  async release({ key, owner }: Fenced): Promise<boolean> {
    const found = this.#find(key);
    if (found === undefined || found.owner !== owner || found.value !== undefined) return false;
    return this.#delete(key);
  }

  async put({ key, value, ttl }: { key: string; value: string; ttl: number }): Promise<void> {
    this.#write(key, { owner: '', digest: '', lapses: 0, expires: this.#now() + ttl, value });
  }

  async get(key: string): Promise<string | undefined> {
    return this.#find(key)?.value;
  }

  async close(): Promise<void> {
    this.#records.clear();
    this.#characters = 0;
  }

  #find(key: string): Record | undefined {
    const found = this.#records.get(key);
    return found !== undefined && found.expires > this.#now() ? found : undefined;
  }

  #write(key: string, record: Record): void {
    this.#sweep();
    if (!this.#hasRoom(key, record)) {
      this.#sweepAll();
      if (!this.#hasRoom(key, record)) throw new LedgerFull(this.#maxRecords);
    }
    this.#delete(key);
    this.#records.set(key, record);
    this.#characters += record.value?.length ?? 0;
  }

  #hasRoom(key: string, { value }: Record): boolean {
    const known = this.#records.get(key);
    const characters = this.#characters - (known?.value?.length ?? 0) + (value?.length ?? 0);
    return (
      characters <= this.#maxCharacters && (known !== undefined || this.#records.size < this.#maxRecords)
    );
  }

  #delete(key: string): boolean {
    this.#characters -= this.#records.get(key)?.value?.length ?? 0;
    return this.#records.delete(key);
  }

  /** Looks at a few records each time, so that no write pays for all that have expired. */
  #sweep(): void {
    const now = this.#now();
    for (let count = 0; count < SWEEP; count += 1) {
      this.#sweeping ??= this.#records.entries();
      const { value, done } = this.#sweeping.next();
      if (done === true) {
        this.#sweeping = undefined;
        return;
      }
      if (value[1].expires <= now) this.#delete(value[0]);
    }
  }

  #sweepAll(): void {
    const now = this.#now();
    for (const [key, { expires }] of this.#records) if (expires <= now) this.#delete(key);
  }
}
