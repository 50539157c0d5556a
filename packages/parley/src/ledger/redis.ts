import { createHash } from 'node:crypto';
import { ConfigurationError, LedgerUnavailable } from '../errors.js';
import type { ClaimRequest, ClaimResult, Fenced, Ledger } from './ledger.js';

/**
 * What is used of a client of the `redis` package (version 6): `createClient()`, `createClientPool()` and
 * `createCluster()` all have it.
 */
export interface RedisClient {
  /** Whether `connect()` was called, and `close()` was not. */
  readonly isOpen: boolean;
  /** Whether it is connected at the moment. */
  readonly isReady?: boolean;
  eval(script: string, options: RedisScriptOptions): Promise<unknown>;
  evalSha(sha1: string, options: RedisScriptOptions): Promise<unknown>;
  get(key: string): Promise<unknown>;
  set(key: string, value: string, options: { expiration: { type: 'PX'; value: number } }): Promise<unknown>;
}

/** Keys and arguments of a script. */
export interface RedisScriptOptions {
  keys: string[];
  arguments: string[];
}

/** How a Redis ledger is made. */
export interface RedisLedgerOptions {
  /** What every key starts with, so that several programs can share a Redis. Default `parley:`. */
  readonly prefix?: string;
}

interface Script {
  readonly text: string;
  readonly sha1: string;
}

/** Redis's clock, in whole ms since 1970: processes need not agree on the time. */
const NOW = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`;

/** Keeps the record for at least so long. Numbers are written out: Lua would round them to 14 digits. */
const KEEP = `
local function keep(ms)
  if redis.call('PTTL', KEYS[1]) < tonumber(ms) then redis.call('PEXPIRE', KEYS[1], ms) end
end
`;

/* Each script has exactly one key, so that a cluster knows where it belongs. The record is a hash:
 * owner, digest, lapses (ms since 1970), and once it is settled, value. */

// ARGV: owner, digest, lease, ttl, takeover
const CLAIM = script(`${NOW}
local found = redis.call('HMGET', KEYS[1], 'owner', 'digest', 'lapses', 'value')
if found[4] then return {'settled', found[2], found[4]} end
if found[1] and found[1] ~= ARGV[1] then
  local left = tonumber(found[3]) - now
  if left > 0 then return {'running', found[2], left} end
  if ARGV[5] ~= '1' or found[2] ~= ARGV[2] then return {'lapsed', found[2]} end
end
local lapses = string.format('%.0f', now + tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'digest', ARGV[2], 'lapses', lapses)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {'granted'}
`);

// ARGV: owner, value, ttl
const SETTLE = script(`
local found = redis.call('HMGET', KEYS[1], 'owner', 'value')
if found[1] ~= ARGV[1] then return 0 end
if not found[2] then
  redis.call('HSET', KEYS[1], 'value', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 1
`);

// ARGV: owner, lease
const EXTEND = script(`${NOW}${KEEP}
local found = redis.call('HMGET', KEYS[1], 'owner', 'value')
if found[1] ~= ARGV[1] or found[2] then return 0 end
redis.call('HSET', KEYS[1], 'lapses', string.format('%.0f', now + tonumber(ARGV[2])))
keep(ARGV[2])
return 1
`);

// ARGV: owner
const RELEASE = script(`
local found = redis.call('HMGET', KEYS[1], 'owner', 'value')
if found[1] ~= ARGV[1] or found[2] then return 0 end
return redis.call('DEL', KEYS[1])
`);

/**
 * A ledger in Redis 6.2 or later (or Valkey), for any number of processes. Each call is one command on one key,
 * so it works on a cluster too. Every key expires by itself; times are Redis's own.
 *
 * The client is yours: connect it before the first request, listen for its `error` event, close it at the end.
 * Make it with `disableOfflineQueue: true`. Otherwise a command that meets a connection just lost waits, for up to
 * `commandOptions.timeout` (5,000 ms), to be sent over the next one. This never connects by itself, and gives no
 * command to a client that is not connected at the moment: it would be done later, for a request that has long
 * been answered.
 *
 * What Redis cannot promise: replication is asynchronous, so a failover may lose writes that were acknowledged,
 * and so does a restart without `appendonly yes` and `appendfsync always`. A claim that is lost can be granted
 * again, and its work be done twice. `maxmemory-policy` must be `noeviction`: what is evicted is forgotten. Where
 * twice is never acceptable, take Postgres.
 *
 * @throws ConfigurationError when `client` is not a client, or `prefix` is not a text.
 */
export function redisLedger(client: RedisClient, options: RedisLedgerOptions = {}): Ledger {
  const { prefix = 'parley:' } = options;
  const usable: Partial<RedisClient> | undefined = client;
  if (typeof usable?.evalSha !== 'function' || typeof usable.eval !== 'function') {
    throw new ConfigurationError(
      "redisLedger takes a client of the 'redis' package: createClient() or createCluster().",
    );
  }
  if (typeof prefix !== 'string') throw new ConfigurationError('prefix must be a text.');
  return new RedisLedger(client, prefix);
}

class RedisLedger implements Ledger {
  readonly #client: RedisClient;
  readonly #prefix: string;

  constructor(client: RedisClient, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  async claim({ key, owner, digest, lease, ttl, takeover }: ClaimRequest): Promise<ClaimResult> {
    const kept = milliseconds(Math.max(ttl, lease)); // a record that went before its lease could be claimed twice
    const reply = await this.#run('claim', CLAIM, key, [
      owner,
      digest,
      milliseconds(lease),
      kept,
      takeover ? '1' : '0',
    ]);
    const [type, found, rest] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
    switch (asText(type)) {
      case 'granted':
        return { type: 'granted' };
      case 'settled':
        return { type: 'settled', digest: asText(found), value: asText(rest) };
      case 'running':
        return { type: 'running', digest: asText(found), left: Number(rest) };
      case 'lapsed':
        return { type: 'lapsed', digest: asText(found) };
      default:
        throw new LedgerUnavailable('claim', { cause: new Error('Redis gave a reply of another shape.') });
    }
  }

  async settle({ key, owner, value, ttl }: Fenced & { value: string; ttl: number }): Promise<boolean> {
    return isOne(await this.#run('settle', SETTLE, key, [owner, value, milliseconds(ttl)]));
  }

  async extend({ key, owner, lease }: Fenced & { lease: number }): Promise<boolean> {
    return isOne(await this.#run('extend', EXTEND, key, [owner, milliseconds(lease)]));
  }

  async release({ key, owner }: Fenced): Promise<boolean> {
    return isOne(await this.#run('release', RELEASE, key, [owner]));
  }

  async put({ key, value, ttl }: { key: string; value: string; ttl: number }): Promise<void> {
    this.#assertReady('put');
    const expiration = { type: 'PX', value: Number(milliseconds(ttl)) } as const;
    await this.#client.set(this.#prefix + key, value, { expiration });
  }

  async get(key: string): Promise<string | undefined> {
    this.#assertReady('get');
    const value = await this.#client.get(this.#prefix + key);
    return value === null || value === undefined ? undefined : asText(value);
  }

  async close(): Promise<void> {}

  /** Scripts go by their digest; Redis forgets them when it restarts, and then gets the text. */
  async #run(operation: string, { text, sha1 }: Script, key: string, args: string[]): Promise<unknown> {
    this.#assertReady(operation);
    const options = { keys: [this.#prefix + key], arguments: args };
    try {
      return await this.#client.evalSha(sha1, options);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      this.#assertReady(operation);
      return await this.#client.eval(text, options);
    }
  }

  #assertReady(operation: string): void {
    if (!this.#client.isOpen) {
      throw new ConfigurationError(
        'The Redis client of the ledger is not open. Call `await client.connect()` before the first request.',
      );
    }
    if (this.#client.isReady === false) {
      const cause = new Error('The Redis client is not connected at the moment.');
      throw new LedgerUnavailable(operation, { cause });
    }
  }
}

function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Whole, and at least 1: Redis takes nothing else. */
function milliseconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms)));
}

/** A client may be set to give buffers. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : Buffer.isBuffer(value) ? value.toString('utf8') : '';
}

/** An integer, also where a client gives integers as texts or BigInts. */
function isOne(value: unknown): boolean {
  return Number(value) === 1;
}
