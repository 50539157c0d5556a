import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryLedger, type ClaimRequest, type ClaimResult, type Ledger } from '../../src/ledger/index.js';

/*
 * The protocol of claims, as rounds and `once` use it, in any order in which processes, clients and clocks can make
 * it happen. An attempt is one process that works on one round: it claims the round, does the round's work at most
 * once, settles the work, settles the round, and only then answers. Between any two of these it may crash, or stall
 * for as long as it likes and go on, not knowing that others have taken over.
 *
 * Two things must hold, whatever happens:
 *   - work for `once` is executed at most once, over all rounds and attempts;
 *   - all responses that leave for one round are the same, and belong to the same answers.
 * Beside that, each reply of the ledger is what a naive model of it says.
 */

const LEASE = 1_000;
const ROUNDS = 3;
const ANSWERS = 2;
/** Rounds share what they redeem. */
const COUPONS = 2;
/** Nothing is begun, and nobody goes on, later than this: no token lives longer, and no record shorter. */
const LIFE = 20 * LEASE;
const KEPT = 2 * LIFE;

/** How the protocol is followed; what differs from this is found, see below. */
interface Protocol {
  /** Whether work that somebody began, and may have done, is begun again. */
  readonly repeatsWork: boolean;
  /** Whether a response leaves although the round was taken over. */
  readonly answersAnyhow: boolean;
}

const PROTOCOL: Protocol = { repeatsWork: false, answersAnyhow: false };

interface Attempt {
  readonly round: number;
  readonly answers: string;
  readonly owner: string;
  /** What it has done so far. */
  done: 'claimed' | 'worked' | 'knows';
  /** Owner of its claim of the work, and what came of it. */
  work: string;
  result: string;
}

interface Model {
  now: number;
  drawn: number;
  readonly records: Map<string, { owner: string; digest: string; lapses: number; value?: string }>;
  attempts: Attempt[];
  /** How often each coupon was redeemed, in truth. */
  readonly redeemed: number[];
  /** What left, for each round. */
  readonly responses: Set<string>[];
}

interface Real {
  readonly ledger: Ledger;
  pass(ms: number): void;
}

const couponOf = ({ round }: Attempt) => round % COUPONS;
const roundKey = (round: number) => `round ${round}`;
const couponKey = (attempt: Attempt) => `coupon ${couponOf(attempt)}`;

/** What a claim must give, said as plainly as possible. */
function expected(model: Model, { key, owner, digest, takeover }: ClaimRequest): ClaimResult {
  const record = model.records.get(key);
  if (record === undefined) return { type: 'granted' };
  if (record.value !== undefined) return { type: 'settled', digest: record.digest, value: record.value };
  if (record.owner === owner) return { type: 'granted' };
  const left = record.lapses - model.now;
  if (left > 0) return { type: 'running', digest: record.digest, left };
  return takeover && record.digest === digest
    ? { type: 'granted' }
    : { type: 'lapsed', digest: record.digest };
}

async function claim(
  model: Model,
  real: Real,
  key: string,
  digest: string,
  takeover: boolean,
  owner?: string,
) {
  const by = owner ?? `owner ${(model.drawn += 1)}`;
  const request = { key, owner: by, digest, lease: LEASE, ttl: KEPT, takeover };
  const should = expected(model, request);
  const result = await real.ledger.claim(request);
  assert.deepEqual(result, should);
  if (result.type === 'granted') model.records.set(key, { owner: by, digest, lapses: model.now + LEASE });
  return { result, owner: by };
}

async function settle(model: Model, real: Real, key: string, owner: string, value: string): Promise<boolean> {
  const record = model.records.get(key);
  const mine = record?.owner === owner;
  assert.equal(await real.ledger.settle({ key, owner, value, ttl: KEPT }), mine);
  if (mine) record.value ??= value;
  return mine;
}

/** What a round's response says: the answers that it was given for, and what came of the work. */
const responseOf = ({ answers, result, owner }: Attempt) => `${answers}: ${result}, says ${owner}`;

async function enter(model: Model, real: Real, round: number, answers: string): Promise<void> {
  const { result, owner } = await claim(model, real, roundKey(round), answers, true);
  if (result.type === 'granted') {
    model.attempts.push({ round, answers, owner, done: 'claimed', work: '', result: '' });
  }
  // Sent again: the response on record. Other answers are rejected, and who is at it is waited for.
  if (result.type === 'settled' && result.digest === answers) model.responses[round]?.add(result.value);
}

/** Goes on with an attempt by one step. */
async function proceed(model: Model, real: Real, attempt: Attempt, protocol: Protocol): Promise<void> {
  switch (attempt.done) {
    case 'claimed': {
      const { result, owner } = await claim(model, real, couponKey(attempt), '', protocol.repeatsWork);
      attempt.work = owner;
      if (result.type === 'granted') {
        model.redeemed[couponOf(attempt)] = (model.redeemed[couponOf(attempt)] ?? 0) + 1;
        attempt.done = 'worked';
        return;
      }
      if (result.type === 'running') {
        await leave(model, real, attempt); // busy: the client is told to try again
        return;
      }
      attempt.result = result.type === 'settled' ? result.value : 'unknown';
      attempt.done = 'knows';
      return;
    }
    case 'worked': {
      const value = `redeemed by ${attempt.work}`;
      attempt.result = (await settle(model, real, couponKey(attempt), attempt.work, value))
        ? value
        : 'unknown';
      attempt.done = 'knows';
      return;
    }
    case 'knows': {
      const response = responseOf(attempt);
      model.attempts = model.attempts.filter((each) => each !== attempt);
      if (
        (await settle(model, real, roundKey(attempt.round), attempt.owner, response)) ||
        protocol.answersAnyhow
      ) {
        model.responses[attempt.round]?.add(response);
        return;
      }
      await enter(model, real, attempt.round, attempt.answers); // taken over: the other's response counts
    }
  }
}

async function leave(model: Model, real: Real, attempt: Attempt): Promise<void> {
  model.attempts = model.attempts.filter((each) => each !== attempt);
  const key = roundKey(attempt.round);
  const record = model.records.get(key);
  const mine = record?.owner === attempt.owner && record.value === undefined;
  assert.equal(await real.ledger.release({ key, owner: attempt.owner }), mine);
  if (mine) model.records.delete(key);
}

type Command = fc.AsyncCommand<Model, Real>;

/** A command, and after it what must hold. */
function command(
  name: string,
  check: (model: Model) => boolean,
  act: (model: Model, real: Real) => Promise<void>,
): Command {
  return {
    check,
    async run(model, real) {
      await act(model, real);
      for (const [coupon, times] of model.redeemed.entries()) {
        assert.ok(times <= 1, `coupon ${coupon} was redeemed ${times} times`);
      }
      for (const [round, responses] of model.responses.entries()) {
        assert.ok(responses.size <= 1, `round ${round} was answered in ${responses.size} ways`);
      }
    },
    toString: () => name,
  };
}

function commandsOf(protocol: Protocol): fc.Arbitrary<Iterable<Command>> {
  const alive = (model: Model) => model.attempts.length > 0 && model.now < LIFE;
  const one = (model: Model, pick: number) => model.attempts[pick % model.attempts.length] as Attempt;
  const pick = fc.nat({ max: 20 });
  return fc.commands<Model, Real, false>(
    [
      // A request, or its retry, or the same state with other answers.
      fc.tuple(fc.nat({ max: ROUNDS - 1 }), fc.nat({ max: ANSWERS - 1 })).map(([round, answers]) =>
        command(
          `request(${round}, ${answers})`,
          ({ now }) => now < LIFE,
          (model, real) => enter(model, real, round, `answers ${answers}`),
        ),
      ),
      pick.map((at) =>
        command(`proceed(${at})`, alive, (model, real) => proceed(model, real, one(model, at), protocol)),
      ),
      pick.map((at) =>
        command(`crash(${at})`, alive, async (model) => {
          model.attempts.splice(at % model.attempts.length, 1);
        }),
      ),
      // The reply to a claim was lost, and the claim is made again.
      pick.map((at) =>
        command(`claimAgain(${at})`, alive, async (model, real) => {
          const { round, answers, owner } = one(model, at);
          await claim(model, real, roundKey(round), answers, false, owner);
        }),
      ),
      pick.map((at) =>
        command(`extend(${at})`, alive, async (model, real) => {
          const { round, owner } = one(model, at);
          const record = model.records.get(roundKey(round));
          const mine = record?.owner === owner && record.value === undefined;
          assert.equal(await real.ledger.extend({ key: roundKey(round), owner, lease: LEASE }), mine);
          if (mine) record.lapses = model.now + LEASE;
        }),
      ),
      fc.constantFrom(1, LEASE - 1, LEASE, 2 * LEASE).map((ms) =>
        command(
          `pass(${ms})`,
          () => true,
          async (model, real) => {
            model.now += ms;
            real.pass(ms);
          },
        ),
      ),
    ],
    { size: 'large' },
  );
}

function property(protocol: Protocol) {
  return fc.asyncProperty(commandsOf(protocol), async (commands) => {
    await fc.asyncModelRun(() => {
      let now = 0;
      const ledger = memoryLedger({ now: () => now });
      const model: Model = {
        now: 0,
        drawn: 0,
        records: new Map(),
        attempts: [],
        redeemed: Array.from({ length: COUPONS }, () => 0),
        responses: Array.from({ length: ROUNDS }, () => new Set<string>()),
      };
      return { model, real: { ledger, pass: (ms) => void (now += ms) } };
    }, commands);
  });
}

describe('the protocol of claims', () => {
  // A failure prints its seed and path: give them to fc.assert to see it again.
  it('executes work at most once, and answers a round in one way, whatever happens in between', async () => {
    await fc.assert(property(PROTOCOL), { numRuns: 3_000 });
  });

  // That the test sees what it looks for.
  it.each<[string, Partial<Protocol>, RegExp]>([
    ['work that lapsed is begun again', { repeatsWork: true }, /was redeemed/],
    ['a response leaves although the round was taken over', { answersAnyhow: true }, /was answered/],
  ])('is broken when %s', async (_, fault, message) => {
    const { failed, errorInstance } = await fc.check(property({ ...PROTOCOL, ...fault }), {
      numRuns: 5_000,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
    expect(String(errorInstance)).toMatch(message);
  });
});
