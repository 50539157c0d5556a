import type { Json } from '../flow/index.js';
import type { Malformation } from '../seal/index.js';

/** What came of looking into a token. Plain data: `JSON.stringify` writes all of it. */
export type Inspection = OpenedToken | UnopenedToken;

/** A token that opened. Times in ms since 1970, digests as 64 hex digits. */
export interface OpenedToken {
  readonly outcome: 'opened';
  /** Length on the wire, in bytes. */
  readonly bytes: number;
  readonly key: InspectedKey;
  /** Whether it belongs to a flow, or to a handler that was written by hand and seals a text of its own. */
  readonly kind: 'flow' | 'plain';
  /** The flow's id, 22 characters of base64url, as in the events of a `Parley`. */
  readonly flow: string;
  /** The round that this state ended, from 1. */
  readonly round: number;
  /** How many of the rounds asked nothing and only waited. */
  readonly waits: number;
  readonly issued: number;
  /** Last moment at which this round may be answered. */
  readonly expires: number;
  /** Last moment of the whole flow. */
  readonly deadline: number;
  /** Set when its time is over: `deadline` for that of the whole flow, `expired` for that of this round only. */
  readonly stale?: 'expired' | 'deadline';
  /** Digest of who it belongs to; null for callers that are not signed in. */
  readonly principal: string | null;
  /** Digest of the request that it belongs to. */
  readonly request: string;
  /** Version of the handler that sealed it. */
  readonly version?: string;
  /** W3C `traceparent` of the round that sealed it. */
  readonly trace?: string;
  /** What the round asked. A token keeps no more of a question than its key and its digest. */
  readonly questions: readonly InspectedQuestion[];
  readonly contents: Contents;
  /** Whether it belongs to the request and the principal that were given; a member for each that was. */
  readonly fits: Fit;
}

/** The key that opened a token. */
export interface InspectedKey {
  /** 8 hex digits, as in the event `keyUsed`. Another audience gives the same key another id. */
  readonly id: string;
  /** Its place in the ring, from 0. */
  readonly position: number;
  /** Whether it is the key that seals now. */
  readonly seals: boolean;
}

/** A question that waits for its answer. */
export interface InspectedQuestion {
  readonly key: string;
  /** Answers so far that could not be used. */
  readonly attempts: number;
  /** Rounds in a row in which it read differently. */
  readonly changes: number;
}

/** What a token holds beside its claims. */
export type Contents =
  /** The journal, in the order in which things were settled. */
  | { readonly in: 'token'; readonly entries: readonly InspectedEntry[] }
  /** The journal was too large for a token. It lies in the ledger, sealed, and its values with it. */
  | { readonly in: 'ledger'; readonly reference: string }
  /** The text of a handler that was written by hand; `text` only when it was asked to be revealed. */
  | { readonly in: 'text'; readonly bytes: number; readonly text?: string };

/** An entry of a journal. */
export interface InspectedEntry {
  /**
   * What it records, as `docs/token-format.md` names it: `step`, `answer`, `once-failed`, `now` and so on. Absent for
   * what is no entry, as another version of this library may write it.
   */
  readonly type?: string;
  /** Its key; draws (`now`, `random`, `uuid`) have none. */
  readonly key?: string;
  /** For a draw: the key of the entry that was delivered last before it. */
  readonly after?: string;
  /** Length of its text, in bytes. */
  readonly bytes: number;
  /** Set for work that was begun and whose end is not known. */
  readonly unknown?: true;
  /** All else that it records, values included. Only when it was asked to be revealed. */
  readonly recorded?: Json;
}

/** Whether a token belongs to what it was held against. */
export interface Fit {
  readonly request?: boolean;
  readonly principal?: boolean;
}

/** A token that did not open. The reasons are those of the event `rejected`. */
export type UnopenedToken = { readonly outcome: 'unopened' } & (
  | { readonly reason: 'not_a_string' }
  /** Lengths in characters. Not looked at any further. */
  | { readonly reason: 'too_long'; readonly length: number; readonly limit: number }
  /** It is no token, or was changed so that it is none any more. */
  | ({ readonly reason: 'malformed' } & Malformation)
  /**
   * The key that it names is not in the ring: it was sealed with another key, or for another audience, which cannot
   * be told apart; or its first characters were changed. `ring` are the ids of the keys that were given.
   */
  | { readonly reason: 'unknown_key'; readonly keyId: string; readonly ring: readonly string[] }
  /**
   * The key is in the ring, and the token was changed after that: in its salt or commitment (`commitment`), or in
   * its nonce, contents or tag (`authentication`).
   */
  | { readonly reason: 'commitment' | 'authentication'; readonly keyId: string }
  /** Authentic, and not to be read: made by another version of this library, or by something else with this key. */
  | { readonly reason: 'claims'; readonly keyId: string }
);
