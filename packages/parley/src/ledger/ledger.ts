/**
 * The shared store that makes something happen at most once. What it keeps is sealed before it gets here: a
 * ledger sees keys that are digests, and values that are tokens.
 *
 * Invariants that every ledger keeps (the suite in `mcp-parley/testing` checks them against a real store):
 *
 *  L1  Of any number of claims of one key, at most one is granted, until it is released or taken over.
 *  L2  A claim by the owner that holds the key is granted again: a reply that was lost does no harm.
 *  L3  A claim is taken over only when its lease has lapsed, the taker allows it, and the digests agree.
 *  L4  Only the owner that holds the key can settle, extend or release it; whoever was taken over cannot.
 *  L5  What is settled stays as it is, and is what every later claim gets, until its time is over.
 *  L6  Nothing is kept for longer than its time.
 */
export interface Ledger {
  /** Claims a key, or tells what stands in the way. */
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /** Settles a claim with its result. False when it is not this owner's (any more). Again by the same owner: true. */
  settle(request: Fenced & { readonly value: string; readonly ttl: number }): Promise<boolean>;
  /** Moves the end of a claim's lease to `lease` ms from now. False when it is not this owner's, or settled. */
  extend(request: Fenced & { readonly lease: number }): Promise<boolean>;
  /** Gives a claim back, as if it had never been made. False when it is not this owner's, or settled. */
  release(request: Fenced): Promise<boolean>;
  /** Keeps a value for `ttl` ms. */
  put(request: { readonly key: string; readonly value: string; readonly ttl: number }): Promise<void>;
  /** The value that was put under a key, if its time is not over. */
  get(key: string): Promise<string | undefined>;
  /** Lets go of what the ledger itself holds (timers, not the client that it was given). */
  close(): Promise<void>;
}

/** A claim, by its key and who holds it. The owner is the fence: it is drawn anew for every attempt. */
export interface Fenced {
  /** 43 characters of base64url. */
  readonly key: string;
  /** 22 characters of base64url. */
  readonly owner: string;
}

/** A claim to be made. Times in ms. */
export interface ClaimRequest extends Fenced {
  /** What the claim is for; a claim with another digest never takes over. */
  readonly digest: string;
  /** How long the claim holds without being extended. */
  readonly lease: number;
  /** How long the record is kept, at least. */
  readonly ttl: number;
  /** Whether a claim whose lease has lapsed may be taken over. */
  readonly takeover: boolean;
}

/** What came of a claim. */
export type ClaimResult =
  | { readonly type: 'granted' }
  /** It was done before; this is what came of it. */
  | { readonly type: 'settled'; readonly digest: string; readonly value: string }
  /** Somebody is at it, for at most `left` ms more unless the lease is extended. */
  | { readonly type: 'running'; readonly digest: string; readonly left: number }
  /** Somebody was at it, has not settled, and the lease has lapsed. */
  | { readonly type: 'lapsed'; readonly digest: string };

/** Marks work that a ledger runs inside a transaction of its store, together with the settling of its claim. */
export const TRANSACTION = Symbol.for('mcp-parley.transaction');

/** Work for `flow.once` that commits together with its claim; made by a ledger's `transaction`. */
export interface TransactionWork<R> {
  (): R;
  readonly [TRANSACTION]: (
    claim: Fenced & { readonly ttl: number },
    /** Makes the record of a result; only then is the transaction committed. */
    record: (run: () => Promise<R>) => Promise<TransactionRecord>,
  ) => Promise<boolean>;
}

/** What came of an author's function in a transaction. */
export interface TransactionRecord {
  readonly value: string;
  /** Whether it succeeded; if not, what it wrote is rolled back. */
  readonly commit: boolean;
  /** What it threw. Where that was the store's doing and not its own, the claim is given back instead of settled. */
  readonly cause?: unknown;
}

/**
 * Thrown by transaction work when the store refused it for good: nothing was committed, and the same would be refused
 * again (a constraint, a statement that had failed). The claim was given back.
 */
export class TransactionRefused extends Error {
  override readonly name = 'TransactionRefused';
}
