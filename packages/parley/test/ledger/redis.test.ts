import { randomBytes } from 'node:crypto';
import { createClient, createClientPool, createCluster, RESP_TYPES } from 'redis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort, hasBinary, startRedis, type Service } from '../../../../test/services/index.js';
import { service } from '../../../../test/services/use.js';
import { ConfigurationError, LedgerUnavailable } from '../../src/errors.js';
import { redisLedger, type RedisClient } from '../../src/ledger/redis.js';
import { ledgerCases } from '../../src/testing/index.js';
import { claimOf, rivalOf } from './claims.js';

const url = await service('redis');
const clientOf = (to: string) =>
  createClient({ url: to, disableOfflineQueue: true, socket: { reconnectStrategy: 50 } }).on(
    'error',
    () => undefined,
  );

describe.skipIf(url === undefined)('the Redis ledger', () => {
  const prefix = `parley-test-${randomBytes(6).toString('hex')}:`;
  const client = clientOf(url ?? '');
  const ledger = redisLedger(client, { prefix });

  const keys = async () => {
    const found: string[] = [];
    for await (const some of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1_000 })) found.push(...some);
    return found;
  };

  beforeAll(async () => void (await client.connect()));
  afterAll(async () => {
    const left = await keys();
    if (left.length > 0) await client.del(left);
    await client.close();
  });

  describe('as every ledger', () => {
    it.concurrent.each(ledgerCases)('$name', async ({ run }) => {
      await run(async () => ({ ledger: redisLedger(client, { prefix }) }));
    });
  });

  describe('through a pool of clients that give buffers', () => {
    const pool = createClientPool({ url: url ?? '' }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    beforeAll(async () => void (await pool.connect()));
    afterAll(() => pool.close());

    it.concurrent.each(ledgerCases)('$name', async ({ run }) => {
      await run(async () => ({ ledger: redisLedger(pool, { prefix }) }));
    });
  });

  it('gives every key that it writes a time to live', async () => {
    const [claimed, extended, settled] = [claimOf(), claimOf({ ttl: 5_000, lease: 100 }), claimOf()];
    const put = claimOf();
    for (const claim of [claimed, extended, settled]) await ledger.claim(claim);
    await ledger.extend({ ...extended, lease: 300_000 });
    await ledger.settle({ ...settled, value: 'value', ttl: 100_000 });
    await ledger.put({ key: put.key, value: 'value', ttl: 50_000 });

    const left = async ({ key }: { key: string }) => Math.round((await client.pTTL(prefix + key)) / 1_000);
    expect(await left(claimed)).toBe(600);
    expect(await left(extended)).toBe(300);
    expect(await left(settled)).toBe(100);
    expect(await left(put)).toBe(50);
    for (const key of await keys()) expect(await client.pTTL(key)).toBeGreaterThan(0);
  });

  it('keeps a claim for as long as its lease, also where its time is shorter', async () => {
    const claim = claimOf({ ttl: 1, lease: 60_000 });
    await ledger.claim(claim);
    await new Promise((done) => setTimeout(done, 20));
    expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'running' });
  });

  it('makes one call a claim, on one key that begins with the prefix', async () => {
    const calls: { readonly command: string; readonly keys: readonly string[] }[] = [];
    const spy: RedisClient = {
      isOpen: true,
      isReady: true,
      eval: async (text, options) => (
        calls.push({ command: 'eval', keys: options.keys }),
        await client.eval(text, options)
      ),
      evalSha: async (sha1, options) => (
        calls.push({ command: 'evalSha', keys: options.keys }),
        await client.evalSha(sha1, options)
      ),
      get: async (key) => (calls.push({ command: 'get', keys: [key] }), await client.get(key)),
      set: async (key, value, options) => (
        calls.push({ command: 'set', keys: [key] }),
        await client.set(key, value, options)
      ),
    };
    const watched = redisLedger(spy, { prefix });
    const claim = claimOf();
    await ledger.claim(rivalOf(claimOf())); // the scripts are known by now
    await ledger.release(claim);
    await ledger.extend({ ...claim, lease: 1 });
    await ledger.settle({ ...claim, value: '', ttl: 1 });
    await watched.claim(claim);
    await watched.claim(rivalOf(claim));
    await watched.extend({ ...claim, lease: 1_000 });
    await watched.settle({ ...claim, value: 'value', ttl: 1_000 });
    await watched.release(claim);
    await watched.put({ key: claim.key, value: 'value', ttl: 1_000 });
    await watched.get(claim.key);
    expect(calls.map(({ command }) => command)).toEqual([...Array(5).fill('evalSha'), 'set', 'get']);
    for (const { keys } of calls) expect(keys).toEqual([prefix + claim.key]);
  });

  it('goes on after Redis has forgotten the scripts', async () => {
    const claim = claimOf();
    await ledger.claim(claim);
    await client.scriptFlush();
    expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'running' });
    await client.scriptFlush();
    expect(await ledger.extend({ ...claim, lease: 1_000 })).toBe(true);
    await client.scriptFlush();
    expect(await ledger.settle({ ...claim, value: 'value', ttl: 60_000 })).toBe(true);
    await client.scriptFlush();
    expect(await ledger.release(claim)).toBe(false);
  });

  it('stores what it was given and nothing else', async () => {
    const [settled, put] = [claimOf({ digest: 'the digest' }), claimOf()];
    await ledger.claim(settled);
    await ledger.settle({ ...settled, value: 'the value', ttl: 60_000 });
    await ledger.put({ key: put.key, value: 'what was put', ttl: 60_000 });
    const { lapses, ...rest } = await client.hGetAll(prefix + settled.key);
    expect(rest).toEqual({ owner: settled.owner, digest: 'the digest', value: 'the value' });
    expect(Math.abs(Number(lapses) - Date.now() - 600_000)).toBeLessThan(60_000);
    expect(await client.get(prefix + put.key)).toBe('what was put');
  });

  it('keeps programs with other prefixes apart', async () => {
    const claim = claimOf();
    const other = redisLedger(client, { prefix: `${prefix}other:` });
    expect(await ledger.claim(claim)).toEqual({ type: 'granted' });
    expect(await other.claim(rivalOf(claim))).toEqual({ type: 'granted' });
    expect(await other.release(claim)).toBe(false);
    await other.put({ key: 'value', value: 'value', ttl: 1_000 });
    expect(await ledger.get('value')).toBeUndefined();
  });

  it('writes keys that begin with parley: unless told otherwise', async () => {
    const claim = claimOf({ ttl: 1_000, lease: 1_000 });
    await redisLedger(client).claim(claim);
    expect(await client.exists(`parley:${claim.key}`)).toBe(1);
  });

  it('says that its client is not open, and does not open it', async () => {
    const closed = clientOf(url ?? '');
    const unusable = redisLedger(closed, { prefix });
    const claim = claimOf();
    for (const call of [
      () => unusable.claim(claim),
      () => unusable.settle({ ...claim, value: '', ttl: 1 }),
      () => unusable.put({ key: '', value: '', ttl: 1 }),
      () => unusable.get(''),
    ]) {
      await expect(call()).rejects.toThrow(/not open\. Call `await client\.connect\(\)`/);
      await expect(call()).rejects.toThrow(ConfigurationError);
    }
    expect(closed.isOpen).toBe(false);
  });

  it.each([undefined, null, {}, { isOpen: true }])('refuses %j as a client', (nothing) => {
    expect(() => redisLedger(nothing as unknown as RedisClient)).toThrow(ConfigurationError);
  });
});

// With REDIS_URL alone there may be a server and no program to start others with.
const alone = url === undefined || !hasBinary('redis-server');

describe.skipIf(alone)('the Redis ledger on a cluster', async () => {
  // One node that has all slots refuses what a larger cluster refuses: scripts with keys of several slots.
  const settings = { 'cluster-enabled': 'yes', 'cluster-port': String(await freePort()) };
  const redis = alone ? undefined : await startRedis(settings);
  const cluster = createCluster({ rootNodes: [{ url: redis?.url ?? '' }] });

  beforeAll(async () => {
    const node = clientOf(redis?.url ?? '');
    await node.connect();
    await node.clusterAddSlotsRange({ start: 0, end: 16_383 });
    await vi.waitUntil(async () => (await node.clusterInfo()).includes('cluster_state:ok'));
    await node.close();
    await cluster.connect();
  });
  afterAll(async () => {
    await cluster.close();
    await redis?.dispose();
  });

  it.concurrent.each(ledgerCases)('$name', async ({ run }) => {
    await run(async () => ({ ledger: redisLedger(cluster) }));
  });
});

describe.skipIf(alone)('the Redis ledger, while Redis is away', () => {
  let redis: Service;
  beforeAll(async () => void (redis = await startRedis()));
  afterAll(() => redis.dispose());

  it.each(['stop', 'kill'] as const)('%s: fails at once, and goes on with what it had', async (end) => {
    const client = clientOf(redis.url);
    await client.connect();
    const ledger = redisLedger(client);
    const [claim, settled] = [claimOf(), claimOf()];
    await ledger.claim(claim);
    await ledger.claim(settled);
    await ledger.settle({ ...settled, value: 'value', ttl: 60_000 });
    await redis[end]();

    const started = performance.now();
    const late = claimOf();
    await expect(ledger.claim(late)).rejects.toThrow();
    await expect.poll(() => client.isReady).toBe(false);
    await expect(ledger.claim(late)).rejects.toThrow(LedgerUnavailable);
    await expect(ledger.get(late.key)).rejects.toThrow(LedgerUnavailable);
    expect(performance.now() - started).toBeLessThan(1_000);

    await redis.start();
    await expect.poll(() => client.isReady, { timeout: 5_000 }).toBe(true);
    expect(await client.exists(`parley:${late.key}`)).toBe(0); // what was refused is not done later
    expect(await ledger.claim(rivalOf(claim))).toMatchObject({ type: 'running' });
    expect(await ledger.claim(rivalOf(settled))).toMatchObject({ type: 'settled', value: 'value' });
    await client.close();
  });
});
