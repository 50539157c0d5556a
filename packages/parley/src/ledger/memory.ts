import { ConfigurationError, LedgerFull } from '../errors.js';
import type { ClaimRequest, ClaimResult, Fenced, Ledger } from './ledger.js';

/** How a memory ledger is bounded. */
export interface MemoryLedgerOptions {
  /** Records at most. A claim beyond that fails: to forget one that still counts would be to do it twice. Default 100,000. */
  readonly maxRecords?: number;
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
 * @throws ConfigurationError when `maxRecords` is not a positive whole number.
 */
export function memoryLedger(options: MemoryLedgerOptions = {}): Ledger & { readonly size: number } {
  const { maxRecords = 100_000, now = Date.now } = options;
  if (!Number.isSafeInteger(maxRecords) || maxRecords < 1) {
    throw new ConfigurationError('maxRecords must be a positive whole number.');
  }
  return new MemoryLedger(maxRecords, now);
}

class MemoryLedger implements Ledger {
  readonly #records = new Map<string, Record>();
  readonly #maxRecords: number;
  readonly #now: () => number;
  #sweeping: MapIterator<[string, Record]> | undefined;

  constructor(maxRecords: number, now: () => number) {
    this.#maxRecords = maxRecords;
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
    this.#write(key, { owner, digest, lapses: now + lease, expires: now + ttl, value: undefined });
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
    return this.#records.delete(key);
  }

  async put({ key, value, ttl }: { key: string; value: string; ttl: number }): Promise<void> {
    this.#write(key, { owner: '', digest: '', lapses: 0, expires: this.#now() + ttl, value });
  }

  async get(key: string): Promise<string | undefined> {
    return this.#find(key)?.value;
  }

  async close(): Promise<void> {
    this.#records.clear();
  }

  #find(key: string): Record | undefined {
    const found = this.#records.get(key);
    return found !== undefined && found.expires > this.#now() ? found : undefined;
  }

  #write(key: string, record: Record): void {
    this.#sweep();
    if (!this.#records.has(key) && this.#records.size >= this.#maxRecords && !this.#sweepAll()) {
      throw new LedgerFull(this.#maxRecords);
    }
    this.#records.set(key, record);
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
      if (value[1].expires <= now) this.#records.delete(value[0]);
    }
  }

  #sweepAll(): boolean {
    const now = this.#now();
    for (const [key, { expires }] of this.#records) if (expires <= now) this.#records.delete(key);
    return this.#records.size < this.#maxRecords;
  }
}
