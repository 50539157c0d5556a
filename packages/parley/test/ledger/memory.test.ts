import { describe, expect, it } from 'vitest';
import { ConfigurationError, LedgerFull } from '../../src/errors.js';
import { memoryLedger } from '../../src/ledger/index.js';
import { ledgerCases } from '../../src/testing/index.js';
import { claimOf } from './claims.js';

describe('the memory ledger, as every ledger', () => {
  it.each(ledgerCases)('$name', async ({ run }) => {
    let now = 1_000;
    await run(async () => ({
      ledger: memoryLedger({ now: () => now }),
      pass: async (ms) => void (now += ms),
    }));
  });

  it.concurrent.each(ledgerCases)('$name (on the real clock)', async ({ run }) => {
    await run(async () => ({ ledger: memoryLedger() }));
  });
});

describe('the memory ledger', () => {
  it('holds one million claims within a bounded size, and lets go of them', async () => {
    let now = 0;
    const ledger = memoryLedger({ maxRecords: 20_000, now: () => now });
    const ttl = 10_000;
    let largest = 0;
    for (let each = 0; each < 1_000_000; each += 1) {
      now += 1; // so 10,000 count at any time
      const { type } = await ledger.claim({
        key: `key ${each}`,
        owner: 'owner',
        digest: '',
        lease: ttl,
        ttl,
        takeover: false,
      });
      if (type !== 'granted') throw new Error(`claim ${each}: ${type}`);
      largest = Math.max(largest, ledger.size);
    }
    expect(largest).toBeGreaterThanOrEqual(ttl);
    expect(largest).toBeLessThan(2 * ttl);

    now += ttl;
    for (let each = 0; each < 10_000; each += 1) await ledger.get(`key ${each}`);
    for (let each = 0; each < 10_000; each += 1) {
      await ledger.put({ key: 'one', value: 'value', ttl });
    }
    expect(ledger.size).toBe(1);
  }, 5_000);

  it('refuses what would be too much rather than forget what counts, and goes on when it may forget', async () => {
    let now = 0;
    const ledger = memoryLedger({ maxRecords: 10, now: () => now });
    for (let each = 0; each < 10; each += 1) await ledger.claim(claimOf({ ttl: 100, lease: 100 }));
    await expect(ledger.claim(claimOf())).rejects.toThrow(LedgerFull);
    expect(ledger.size).toBe(10);
    now = 100;
    await expect(ledger.claim(claimOf())).resolves.toEqual({ type: 'granted' });
    expect(ledger.size).toBeLessThan(10);
  });

  it('writes what it has although it is full', async () => {
    const ledger = memoryLedger({ maxRecords: 1 });
    const claim = claimOf();
    await ledger.claim(claim);
    await expect(ledger.extend({ ...claim, lease: 1_000 })).resolves.toBe(true);
    await expect(ledger.settle({ ...claim, value: 'value', ttl: 1_000 })).resolves.toBe(true);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses maxRecords %d', (maxRecords) => {
    expect(() => memoryLedger({ maxRecords })).toThrow(ConfigurationError);
  });
});
