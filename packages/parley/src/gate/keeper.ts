import {
  LedgerFull,
  LedgerUnavailable,
  OutcomeUnknown,
  RoundBusy,
  StateRejected,
  StepFailed,
} from '../errors.js';
import { readAttempt, writeAttempt, type Attempt, type OnceRequest } from '../flow/index.js';
import {
  TRANSACTION,
  TransactionRefused,
  type ClaimResult,
  type Fenced,
  type Ledger,
  type TransactionWork,
} from '../ledger/index.js';
import { encodeBase64url, randomBytes, sha256, type Sealer } from '../seal/index.js';
import { TellLater } from './tell-later.js';

/*
 * What makes a round, or a piece of work, happen at most once. Invariants kept here:
 *
 *  K1  Nothing runs before its claim was granted. A ledger that does not answer in time means that nothing runs.
 *  K2  The response of a round is sent only when it is the one on record.
 *  K3  Work for `once` is begun by one claim only. A claim that lapsed is never taken over, unless all that it did
 *      is in a transaction that did not commit.
 *  K4  What is stored is sealed, together with the key that it is stored under: a value that was moved does not open.
 */

/** How a keeper is made. Times in ms. */
export interface KeeperOptions {
  readonly ledger: Ledger;
  /** Seals what is stored; an audience of its own, so that no record passes for a state. */
  readonly sealer: Sealer;
  readonly audience: string;
  /** How long one call of the ledger may take, retries included. */
  readonly timeout: number;
  /** How long a request waits for another that does the same. */
  readonly patience: number;
  /** How long a claim holds when its process dies. Extended while the work runs. */
  readonly lease: number;
  readonly warn: (message: string) => void;
}

/** Records of an `id` of the author's are kept this long, in ms, unless said otherwise: 30 days. */
const KEEP_ID = 30 * 24 * 60 * 60_000;

/** A record outlives the token that it belongs to by this, in ms: the ledger's clock is another one. */
const GRACE = 60_000;

/** How long a process goes on trying to tell a ledger what it did, in ms: 5 minutes. */
const TELL_LATER = 5 * 60_000;

/** An outage is one line in this many ms, not one a request. */
const QUIET_MS = 10_000;

const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 500;

interface Claimed {
  readonly key: string;
  readonly owner: string;
  readonly ttl: number;
}

/** Uses a ledger on behalf of rounds and flows. */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #later = new TellLater();
  #quietUntil = 0;

  constructor(options: KeeperOptions) {
    this.#options = { ...options, ledger: asynchronous(options.ledger) };
  }

  /**
   * Answers a round once: the same request again gets the stored response.
   *
   * @param digest of the answers that were taken; the same state with other answers is a replay.
   * @param left how long the state may still be presented, in ms.
   * @throws StateRejected `replayed`.
   * @throws RoundBusy when the round is still under way elsewhere and patience is over.
   * @throws LedgerUnavailable when the ledger gives no answer: before anything ran, or after (then it may run again).
   */
  async round<T>(
    id: readonly [flow: string, round: number],
    digest: string,
    left: number,
    run: () => Promise<T>,
  ): Promise<{ readonly response: T; readonly repeated: boolean }> {
    const key = this.#key('round', ...id);
    const ttl = Math.max(left, 0) + GRACE;
    const until = performance.now() + this.#options.patience;
    const isMine = (claim: { readonly digest: string }): boolean => claim.digest === digest;
    for (let again = false; ; again = true) {
      const claimed: Claimed = { key, owner: newOwner(), ttl };
      const claim = await this.#claim(claimed, { digest, takeover: true, until, waitsFor: isMine });
      if (claim.type !== 'granted' && !isMine(claim)) throw new StateRejected('replayed');
      if (claim.type === 'settled') {
        return { response: JSON.parse(await this.#unseal(key, claim.value)) as T, repeated: true };
      }
      if (claim.type !== 'granted') throw new RoundBusy();
      try {
        // The record of a round that ran went away while it ran. Once is an accident, and must not become a habit.
        if (again) throw new LedgerUnavailable('settle');
        const response = await this.#holding(claimed, run);
        const value = await this.#seal(key, JSON.stringify(response));
        if (await this.#settle(claimed, value)) return { response, repeated: false };
        // Taken over while it ran: the response that counts is the other's (K2).
      } catch (error) {
        await this.#release(claimed);
        throw error;
      }
    }
  }

  /** Does work at most once; see `OnceKeeper`. */
  async once(flow: string, left: number, request: OnceRequest): Promise<Attempt> {
    const { key: name, id, keep, work, attempt, isOver } = request;
    // A record of the flow's own goes with the flow; work that began later could be begun again.
    if (id === undefined && left <= 0) throw new StateRejected('deadline');
    const key = id === undefined ? this.#key('once', flow, name) : this.#key('id', name, id);
    const ttl = Math.max(left + GRACE, keep ?? (id === undefined ? 0 : KEEP_ID));
    const transaction = (work as Partial<TransactionWork<unknown>>)[TRANSACTION];
    // The digest tells the two kinds of work apart, and what is not the same is never taken over (K3, L3).
    const digest = transaction === undefined ? '' : 'transaction';
    const takeover = transaction !== undefined;
    const until = performance.now() + this.#options.patience;
    for (let again = false; ; again = true) {
      const claimed: Claimed = { key, owner: newOwner(), ttl };
      const claim = await this.#claim(claimed, { digest, takeover, until, waitsFor: () => !isOver() });
      if (claim.type === 'settled') return await this.#recorded(name, key, claim.value);
      if (claim.type === 'running') throw new RoundBusy();
      if (claim.type === 'lapsed') return { failure: new OutcomeUnknown(name) };
      if (isOver() || again) {
        // Begun now, the work would be done for a client that was told otherwise.
        await this.#release(claimed);
        throw again ? new LedgerUnavailable('transaction') : new RoundBusy();
      }
      if (transaction === undefined) return await this.#doOnce(name, claimed, () => attempt(work));
      const result = await this.#transact(name, claimed, transaction, attempt);
      if (result !== undefined) return result;
    }
  }

  /** Stores a journal that is too large for a token. Gives what the token refers to it by. */
  async putJournal(text: string, left: number): Promise<string> {
    const reference = encodeBase64url(randomBytes(16));
    const key = this.#key('journal', reference);
    const value = await this.#seal(key, text);
    await this.#call('put', () => this.#options.ledger.put({ key, value, ttl: Math.max(left, 0) + GRACE }));
    return reference;
  }

  /** @throws StateRejected `journal` when it is not there any more, or not what was put. */
  async getJournal(reference: string): Promise<string> {
    const key = this.#key('journal', reference);
    const value = await this.#call('get', () => this.#options.ledger.get(key));
    if (value === undefined) throw new StateRejected('journal');
    return await this.#unseal(key, value).catch((error: unknown) => {
      throw new StateRejected('journal', { cause: error });
    });
  }

  async #doOnce(name: string, claimed: Claimed, run: () => Promise<Attempt>): Promise<Attempt> {
    const result = await this.#holding(claimed, run);
    const value = await this.#seal(claimed.key, writeAttempt(name, result));
    try {
      // Not settled means that the record is gone, or somebody else's: what was done here is on no record.
      return (await this.#settle(claimed, value)) ? result : { failure: new OutcomeUnknown(name) };
    } catch (error) {
      // This process knows what came of it, and as long as it lives it can still tell.
      this.#later.add(claimed, TELL_LATER, () => this.#options.ledger.settle({ ...claimed, value }));
      throw error;
    }
  }

  async #settle({ key, owner, ttl }: Claimed, value: string): Promise<boolean> {
    return await this.#call('settle', () => this.#options.ledger.settle({ key, owner, value, ttl }));
  }

  /** Undefined when the claim was lost before anything committed: then there is nothing to undo, and it is made again. */
  async #transact(
    name: string,
    claimed: Claimed,
    transaction: TransactionWork<unknown>[typeof TRANSACTION],
    attempt: OnceRequest['attempt'],
  ): Promise<Attempt | undefined> {
    let result: Attempt | undefined;
    const done = await this.#holding(claimed, () =>
      transaction(claimed, async (run) => {
        result = await attempt(run);
        const value = await this.#seal(claimed.key, writeAttempt(name, result));
        return 'failure' in result
          ? { value, commit: false, cause: result.failure.cause }
          : { value, commit: true };
      }),
    ).catch((error: unknown) => {
      if (error instanceof TransactionRefused) {
        result = { failure: new StepFailed(name, error.name, error.message, { cause: error }) };
        return true;
      }
      this.#warnUnavailable('transaction', error);
      throw new LedgerUnavailable('transaction', { cause: error });
    });
    return done ? result : undefined;
  }

  async #recorded(name: string, key: string, value: string): Promise<Attempt> {
    try {
      return readAttempt(await this.#unseal(key, value));
    } catch {
      // Sealed under a key that is gone: that it was done is known, what came of it is not.
      this.#options.warn(
        `the record of '${name}' cannot be opened any more; keep keys for as long as records.`,
      );
      return { failure: new OutcomeUnknown(name) };
    }
  }

  /** Claims, and while somebody else is at it that is worth waiting for, waits and claims again. */
  async #claim(
    claimed: Claimed,
    how: {
      readonly digest: string;
      readonly takeover: boolean;
      readonly until: number;
      readonly waitsFor: (running: { readonly digest: string }) => boolean;
    },
  ): Promise<ClaimResult> {
    const { ledger, lease } = this.#options;
    const { digest, takeover, until, waitsFor } = how;
    // A claim that was granted to nobody must not stand in the way of the next try. Nothing was run for it.
    const giveBack = (): void => this.#later.add(claimed, lease, () => ledger.release(claimed));
    for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
      const result = await this.#call(
        'claim',
        () => ledger.claim({ ...claimed, digest, lease, takeover }),
        giveBack,
      ).catch((error: unknown) => {
        giveBack();
        throw error;
      });
      const patient = performance.now() + pause < until;
      if (result.type !== 'running' || !patient || !waitsFor(result)) return result;
      await sleep(Math.min(pause, result.left + 1));
    }
  }

  /** Runs something while its claim is extended. */
  async #holding<T>({ key, owner }: Fenced, run: () => Promise<T>): Promise<T> {
    const { ledger, lease, timeout } = this.#options;
    let extending = false;
    const extend = async (): Promise<void> => {
      if (extending) return;
      extending = true;
      // Bounded, so that one lost reply does not end all extending. A ledger that is down lets it lapse, as it must.
      await within(timeout, ledger.extend({ key, owner, lease })).catch(ignore);
      extending = false;
    };
    const timer = setInterval(() => void extend(), lease / 3);
    try {
      return await run();
    } finally {
      clearInterval(timer);
    }
  }

  async #release({ key, owner }: Fenced): Promise<void> {
    await this.#call('release', () => this.#options.ledger.release({ key, owner })).catch(ignore);
  }

  /**
   * One call of the ledger, tried again until it answers or the time is over. Every call is one that may be made
   * twice by the same owner.
   *
   * @param onLate called when an answer comes that nobody waits for any more.
   * @throws LedgerUnavailable
   */
  async #call<T>(operation: string, make: () => Promise<T>, onLate?: () => void): Promise<T> {
    const until = performance.now() + this.#options.timeout;
    let cause: unknown;
    for (let pause = FIRST_PAUSE; performance.now() < until; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        return await within(until - performance.now(), make(), onLate);
      } catch (error) {
        cause = error;
        if (error instanceof LedgerFull) break;
        await sleep(Math.min(pause, Math.max(until - performance.now(), 0)));
      }
    }
    this.#warnUnavailable(operation, cause);
    throw new LedgerUnavailable(operation, { cause });
  }

  /** The client is told little; who runs the server must see that it is the store, and why. */
  #warnUnavailable(operation: string, cause: unknown): void {
    const now = performance.now();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + QUIET_MS;
    const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : 'no answer';
    this.#options.warn(
      `the ledger gave no answer (${operation}): ${reason}. Rounds that need it fail until it does.`,
    );
  }

  #key(...parts: readonly (string | number)[]): string {
    return encodeBase64url(sha256(`parley/v1 ledger\0${JSON.stringify([this.#options.audience, ...parts])}`));
  }

  async #seal(key: string, text: string): Promise<string> {
    return await this.#options.sealer.seal(new TextEncoder().encode(key + text));
  }

  async #unseal(key: string, value: string): Promise<string> {
    const { plaintext } = await this.#options.sealer.open(value);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plaintext);
    if (!text.startsWith(key)) throw new StateRejected('claims');
    return text.slice(key.length);
  }
}

/** A ledger of somebody else's may throw where it should reject. */
function asynchronous(ledger: Ledger): Ledger {
  return {
    claim: async (request) => await ledger.claim(request),
    settle: async (request) => await ledger.settle(request),
    extend: async (request) => await ledger.extend(request),
    release: async (request) => await ledger.release(request),
    put: async (request) => await ledger.put(request),
    get: async (key) => await ledger.get(key),
    close: async () => await ledger.close(),
  };
}

function newOwner(): string {
  return encodeBase64url(randomBytes(16));
}

function ignore(): void {}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** The value of a promise, if it comes within `ms`. */
function within<T>(ms: number, promise: Promise<T>, onLate?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      reject(new Error(`no answer within ${Math.ceil(ms)} ms`));
    }, ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        if (late) onLate?.();
        else resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        if (late) onLate?.(); // it may have taken effect all the same
        reject(error instanceof Error ? error : new Error('the ledger failed', { cause: error }));
      },
    );
  });
}
