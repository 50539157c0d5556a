import type { ClaimRequest, ClaimResult, Fenced, Ledger } from '../ledger/index.js';
import { ensure, equal, random, sleep } from './assertions.js';

/** A ledger under test. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** Moves the ledger's clock on by so many ms. Without it, the cases wait, for at most 300 ms each. */
  readonly pass?: (ms: number) => Promise<void>;
}

/** One thing that a ledger must do. */
export interface LedgerCase {
  readonly name: string;
  /** Makes a ledger (it may share its store with others), tries it, and closes it. Rejects when it fails. */
  readonly run: (make: () => Promise<LedgerUnderTest>) => Promise<void>;
}

/** Longer than any test takes. */
const LONG = 600_000;
/** What is waited for, and how long: real stores have real clocks. */
const SHORT = 60;
const OVER_SHORT = 150;
/** Over, once `OVER_SHORT` has passed twice. */
const UNDER_TWICE = 200;

interface Bench {
  readonly ledger: Ledger;
  /** Waits until what lasts for `SHORT` is over. */
  readonly pass: () => Promise<void>;
  /** A claim of a key nobody else has, with an owner of its own. */
  readonly request: (more?: Partial<ClaimRequest>) => ClaimRequest;
}

/** The same claim, made by another. */
function rival(request: ClaimRequest, more: Partial<ClaimRequest> = {}): ClaimRequest {
  return { ...request, owner: random(16), ...more };
}

function fenced({ key, owner }: ClaimRequest): Fenced {
  return { key, owner };
}

/**
 * What every ledger must do, invariants L1 to L6 of the interface. Framework-neutral:
 *
 * ```ts
 * for (const { name, run } of ledgerCases) it(name, () => run(async () => ({ ledger: await myLedger() })));
 * ```
 */
export const ledgerCases: readonly LedgerCase[] = [
  testCase('L1: of 50 claims at the same time, one is granted', async ({ ledger, request }) => {
    const first = request({ digest: 'd' });
    const results = await Promise.all(Array.from({ length: 50 }, () => ledger.claim(rival(first))));
    equal(count(results, 'granted'), 1, 'claims granted');
    equal(count(results, 'running'), 49, 'claims told that somebody is at it');
  }),

  testCase('L1: of 50 claims of a lapsed key at the same time, one takes it over', async (bench) => {
    const { ledger, request, pass } = bench;
    const first = request({ lease: SHORT });
    await granted(ledger, first);
    await pass();
    const next = { lease: LONG, takeover: true };
    const results = await Promise.all(Array.from({ length: 50 }, () => ledger.claim(rival(first, next))));
    equal(count(results, 'granted'), 1, 'claims granted');
    equal(count(results, 'running'), 49, 'claims told that somebody is at it');
  }),

  testCase('L1: of 50 claims of an expired key at the same time, one is granted', async (bench) => {
    const { ledger, request, pass } = bench;
    const first = request();
    await granted(ledger, first);
    await settled(ledger, first, 'value', SHORT);
    await pass();
    const results = await Promise.all(Array.from({ length: 50 }, () => ledger.claim(rival(first))));
    equal(count(results, 'granted'), 1, 'claims granted');
  }),

  testCase('L1: claims of different keys do not meet', async ({ ledger, request }) => {
    const requests = Array.from({ length: 20 }, () => request());
    const results = await Promise.all(requests.map((each) => ledger.claim(each)));
    equal(count(results, 'granted'), 20, 'claims granted');
  }),

  testCase(
    'a claim that stands in the way is told with its digest and what is left of its lease',
    async (bench) => {
      const { ledger, request } = bench;
      const first = request({ digest: 'first', lease: LONG });
      await granted(ledger, first);
      const result = await ledger.claim(rival(first, { digest: 'second', takeover: true }));
      if (result.type !== 'running') throw new Error(`expected 'running', got '${result.type}'`);
      equal(result.digest, 'first', 'digest of the claim that stands');
      ensure(result.left > 0 && result.left <= LONG, 'what is left is of the lease, in ms');
      ensure(result.left > LONG - 60_000, 'what is left is most of the lease');
    },
  ),

  testCase('L2: the owner that holds a key is granted it again', async ({ ledger, request }) => {
    const first = request({ lease: LONG });
    await granted(ledger, first);
    await granted(ledger, first);
    const results = await Promise.all(Array.from({ length: 10 }, () => ledger.claim(first)));
    equal(count(results, 'granted'), 10, 'claims granted again');
    equal((await ledger.claim(rival(first))).type, 'running', 'a claim by another');
  }),

  testCase('L2: a claim by the same owner begins its lease anew, also after it lapsed', async (bench) => {
    const { ledger, request, pass } = bench;
    const first = request({ lease: SHORT });
    await granted(ledger, first);
    await pass();
    await granted(ledger, { ...first, lease: LONG });
    equal((await ledger.claim(rival(first, { takeover: true }))).type, 'running', 'a claim by another');
  }),

  testCase('L3: a lapsed claim is taken over by one that may, for the same thing', async (bench) => {
    const { ledger, request, pass } = bench;
    const first = request({ lease: SHORT, digest: 'same' });
    await granted(ledger, first);
    await pass();
    const second = rival(first, { takeover: true, lease: LONG });
    await granted(ledger, second);
    equal((await ledger.claim(rival(first, { takeover: true }))).type, 'running', 'a third claim');
    equal((await ledger.claim(first)).type, 'running', 'a claim by the one that lost it');
  }),

  testCase('L3: a lapsed claim is not taken over by one that may not', async (bench) => {
    const { ledger, request, pass } = bench;
    const first = request({ lease: SHORT, digest: 'same' });
    await granted(ledger, first);
    await pass();
    const result = await ledger.claim(rival(first, { takeover: false }));
    same(result, { type: 'lapsed', digest: 'same' }, 'the claim');
  }),

  testCase('L3: a lapsed claim is not taken over for another thing', async ({ ledger, request, pass }) => {
    const first = request({ lease: SHORT, digest: 'first' });
    await granted(ledger, first);
    await pass();
    const result = await ledger.claim(rival(first, { takeover: true, digest: 'second' }));
    same(result, { type: 'lapsed', digest: 'first' }, 'the claim');
    equal(await ledger.settle({ ...fenced(first), value: 'v', ttl: LONG }), true, 'settled by its owner');
  }),

  testCase('L3: a claim that is not granted changes nothing', async ({ ledger, request, pass }) => {
    const first = request({ lease: SHORT, digest: 'first' });
    await granted(ledger, first);
    await ledger.claim(rival(first, { lease: LONG, takeover: false }));
    await ledger.claim(rival(first, { lease: LONG, takeover: true, digest: 'second' }));
    await pass();
    same(
      await ledger.claim(rival(first)),
      { type: 'lapsed', digest: 'first' },
      'the claim, once it has lapsed',
    );
  }),

  testCase(
    'L4: whoever was taken over cannot settle, extend or release',
    async ({ ledger, request, pass }) => {
      const first = request({ lease: SHORT });
      await granted(ledger, first);
      await pass();
      const second = rival(first, { takeover: true, lease: LONG });
      await granted(ledger, second);
      equal(
        await ledger.settle({ ...fenced(first), value: 'late', ttl: LONG }),
        false,
        'settled by the first',
      );
      equal(await ledger.extend({ ...fenced(first), lease: LONG }), false, 'extended by the first');
      equal(await ledger.release(fenced(first)), false, 'released by the first');
      await settled(ledger, second, 'second');
      equal(await valueOf(ledger, rival(first)), 'second', 'what was settled');
    },
  ),

  testCase('L4: nobody can settle, extend or release what nobody claimed', async ({ ledger, request }) => {
    const one = request();
    equal(await ledger.settle({ ...fenced(one), value: 'v', ttl: LONG }), false, 'settled');
    equal(await ledger.extend({ ...fenced(one), lease: LONG }), false, 'extended');
    equal(await ledger.release(fenced(one)), false, 'released');
    await granted(ledger, one);
  }),

  testCase('L4: a claim that lapsed and was not taken over is still its owner’s', async (bench) => {
    const { ledger, request, pass } = bench;
    const first = request({ lease: SHORT });
    await granted(ledger, first);
    await pass();
    equal(await ledger.extend({ ...fenced(first), lease: LONG }), true, 'extended');
    equal((await ledger.claim(rival(first, { takeover: true }))).type, 'running', 'a claim by another');
    await settled(ledger, first, 'value');
  }),

  testCase('extending moves the end of the lease', async ({ ledger, request, pass }) => {
    const first = request({ lease: LONG });
    await granted(ledger, first);
    equal(await ledger.extend({ ...fenced(first), lease: SHORT }), true, 'extended');
    await pass();
    equal((await ledger.claim(rival(first))).type, 'lapsed', 'a claim after the shorter lease');
  }),

  testCase('extending keeps the record for as long as the lease', async (bench) => {
    const { ledger, pass } = bench;
    const first = await inTime(bench, (claim) => ledger.extend({ ...fenced(claim), lease: LONG }));
    await pass();
    await pass();
    equal((await ledger.claim(rival(first))).type, 'running', 'a claim by another');
  }),

  testCase('what was released was never claimed', async ({ ledger, request }) => {
    const first = request({ digest: 'first' });
    await granted(ledger, first);
    equal(await ledger.release(fenced(first)), true, 'released');
    equal(await ledger.release(fenced(first)), false, 'released again');
    equal(await ledger.settle({ ...fenced(first), value: 'v', ttl: LONG }), false, 'settled after that');
    await granted(ledger, rival(first, { digest: 'second' }));
  }),

  testCase('L5: what is settled is what every later claim gets', async ({ ledger, request, pass }) => {
    const first = request({ lease: SHORT, digest: 'first' });
    await granted(ledger, first);
    await settled(ledger, first, 'value');
    await pass();
    const expected = { type: 'settled', digest: 'first', value: 'value' } as const;
    same(await ledger.claim(rival(first)), expected, 'a later claim');
    same(await ledger.claim(rival(first, { takeover: true })), expected, 'one that may take over');
    same(await ledger.claim(rival(first, { digest: 'second' })), expected, 'one for another thing');
    same(await ledger.claim(first), expected, 'one by the same owner');
  }),

  testCase('L5: what is settled stays as it is', async ({ ledger, request }) => {
    const first = request();
    await granted(ledger, first);
    await settled(ledger, first, 'value');
    equal(
      await ledger.settle({ ...fenced(first), value: 'other', ttl: LONG }),
      true,
      'settled again by its owner',
    );
    equal(
      await ledger.settle({ ...fenced(rival(first)), value: 'other', ttl: LONG }),
      false,
      'settled by another',
    );
    equal(await ledger.extend({ ...fenced(first), lease: LONG }), false, 'extended');
    equal(await ledger.release(fenced(first)), false, 'released');
    equal(await valueOf(ledger, rival(first)), 'value', 'what was settled');
  }),

  testCase('L5: an empty value is a value', async ({ ledger, request }) => {
    const first = request();
    await granted(ledger, first);
    await settled(ledger, first, '');
    equal(await valueOf(ledger, rival(first)), '', 'what was settled');
  }),

  testCase('L6: a claim whose time is over was never made', async ({ ledger, request, pass }) => {
    const first = request({ lease: SHORT, ttl: SHORT, digest: 'first' });
    await granted(ledger, first);
    await pass();
    equal(await ledger.settle({ ...fenced(first), value: 'v', ttl: LONG }), false, 'settled');
    equal(await ledger.extend({ ...fenced(first), lease: LONG }), false, 'extended');
    equal(await ledger.release(fenced(first)), false, 'released');
    await granted(ledger, rival(first, { digest: 'second' }));
  }),

  testCase('L6: a result whose time is over is gone', async ({ ledger, request, pass }) => {
    const first = request();
    await granted(ledger, first);
    await settled(ledger, first, 'value', SHORT);
    await pass();
    const second = rival(first, { digest: 'second' });
    await granted(ledger, second);
    await settled(ledger, second, 'second');
    equal(await valueOf(ledger, rival(first)), 'second', 'what was settled');
  }),

  testCase('a result is kept for its own time, which may be longer than the claim’s', async (bench) => {
    const { ledger, pass } = bench;
    const first = await inTime(bench, (claim) =>
      ledger.settle({ ...fenced(claim), value: 'value', ttl: LONG }),
    );
    await pass();
    await pass();
    equal(await valueOf(ledger, rival(first)), 'value', 'what was settled');
  }),

  testCase('a value that was put is there, for its time', async ({ ledger, request, pass }) => {
    const { key } = request();
    const { key: other } = request();
    equal(await ledger.get(key), undefined, 'a value that was not put');
    await ledger.put({ key, value: 'one', ttl: LONG });
    await ledger.put({ key: other, value: 'other', ttl: SHORT });
    equal(await ledger.get(key), 'one', 'the value');
    await ledger.put({ key, value: 'two', ttl: LONG });
    equal(await ledger.get(key), 'two', 'the value that replaced it');
    await pass();
    equal(await ledger.get(key), 'two', 'the value, later');
    equal(await ledger.get(other), undefined, 'the value whose time is over');
  }),

  testCase('values come back byte for byte, up to 1 MiB and beyond ASCII', async ({ ledger, request }) => {
    const large = 'a1-_'.repeat(256 * 1024);
    for (const value of [large, 'Grüße 🙂\r\n\t"\'\\', '']) {
      const first = request();
      await granted(ledger, first);
      await settled(ledger, first, value);
      ensure((await valueOf(ledger, rival(first))) === value, 'what was settled is what a claim gets');
      const { key } = request();
      await ledger.put({ key, value, ttl: LONG });
      ensure((await ledger.get(key)) === value, 'what was put is what is got');
    }
  }),

  testCase(
    'keys that begin alike, or differ in case only, are different keys',
    async ({ ledger, request }) => {
      const first = request();
      const keys = [`${first.key}x`, first.key.slice(0, -1), swapCase(first.key), `x${first.key}`];
      await granted(ledger, first);
      for (const key of keys) await granted(ledger, rival(first, { key }));
      equal(await ledger.release(fenced(first)), true, 'released');
      for (const key of keys)
        equal((await ledger.claim(rival(first, { key }))).type, 'running', 'a neighbour');
    },
  ),
];

function testCase(name: string, check: (bench: Bench) => Promise<void>): LedgerCase {
  return {
    name,
    async run(make) {
      const { ledger, pass } = await make();
      const request = (more: Partial<ClaimRequest> = {}): ClaimRequest => ({
        key: random(32),
        owner: random(16),
        digest: 'digest',
        lease: LONG,
        ttl: LONG,
        takeover: false,
        ...more,
      });
      try {
        await check({
          ledger,
          request,
          pass: () => (pass === undefined ? sleep(OVER_SHORT) : pass(OVER_SHORT)),
        });
      } finally {
        await ledger.close();
      }
    },
  };
}

async function granted(ledger: Ledger, request: ClaimRequest): Promise<void> {
  equal((await ledger.claim(request)).type, 'granted', 'the claim');
}

/** Does something with a claim before its record is gone, which takes one try, or more on a machine that is busy. */
async function inTime(
  { ledger, request }: Bench,
  act: (claim: ClaimRequest) => Promise<boolean>,
): Promise<ClaimRequest> {
  for (let tries = 0; tries < 5; tries += 1) {
    const claim = request({ lease: SHORT, ttl: UNDER_TWICE });
    await granted(ledger, claim);
    if (await act(claim)) return claim;
  }
  throw new Error('what holds a claim can extend and settle it');
}

async function settled(ledger: Ledger, request: ClaimRequest, value: string, ttl = LONG): Promise<void> {
  equal(await ledger.settle({ ...fenced(request), value, ttl }), true, 'settled');
}

async function valueOf(ledger: Ledger, request: ClaimRequest): Promise<string> {
  const result = await ledger.claim(request);
  if (result.type !== 'settled') throw new Error(`expected 'settled', got '${result.type}'`);
  return result.value;
}

function count(results: readonly ClaimResult[], type: ClaimResult['type']): number {
  return results.filter((each) => each.type === type).length;
}

function same(actual: ClaimResult, expected: ClaimResult, what: string): void {
  equal(asText(actual), asText(expected), what);
}

function asText(result: ClaimResult): string {
  const digest = 'digest' in result ? result.digest : '';
  return JSON.stringify([result.type, digest, 'value' in result ? result.value : '']);
}

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (each) => (each < 'a' ? each.toLowerCase() : each.toUpperCase()));
}
