import type { RingKey } from './keyring.js';

/** A value, or the promise of one: sealing is synchronous on Node and asynchronous with WebCrypto. */
export type MaybePromise<T> = T | Promise<T>;

/** What a token held, once it was authenticated. */
export interface Opened {
  /** The bytes that were sealed. */
  readonly plaintext: Uint8Array;
  /** Id of the key that opened it, 8 hex digits. Public: it stands in the token. */
  readonly kid: string;
  /** Whether that is the key that seals now. False says that an old key is still needed, or a new one not yet. */
  readonly current: boolean;
  /** Where that key stands in the ring, from 0. */
  readonly position: number;
}

/** Turns bytes into tokens that only a holder of the ring and the audience can read or make. */
export interface Sealer {
  /** Ids of the ring's keys for this audience, in the order of the ring: 8 hex digits each, and no secrets. */
  readonly keyIds: readonly string[];

  /**
   * Seals `plaintext` with the first active key.
   *
   * @throws ConfigurationError if no key of the ring is active yet.
   * @throws StateTooLarge if the token would be longer than `maxLength`, and so could not be opened again.
   */
  seal(plaintext: Uint8Array): MaybePromise<string>;

  /**
   * Opens a token that any key of the ring sealed for this audience.
   *
   * @throws StateRejected with the first of these reasons that applies: `not_a_string`, `too_long`, `malformed`,
   * `unknown_key`, `commitment`, `authentication`.
   */
  open(token: string): MaybePromise<Opened>;
}

/** A {@link Sealer} that answers at once. */
export interface SyncSealer extends Sealer {
  seal(plaintext: Uint8Array): string;
  open(token: string): Opened;
}

/** A {@link Sealer} that answers with promises. */
export interface AsyncSealer extends Sealer {
  seal(plaintext: Uint8Array): Promise<string>;
  open(token: string): Promise<Opened>;
}

/** How to make a sealer. */
export interface SealerOptions {
  /** The ring, in order: the first active key seals, all open. */
  readonly keys: readonly RingKey[];
  /** Who the tokens are for, 1 to 512 bytes of UTF-8. Part of the key derivation: another audience, other keys. */
  readonly audience: string;
  /** The clock, in ms since the Unix epoch. Decides which keys are active. */
  readonly now: () => number;
  /** For tests and vectors only. Must give `n` unpredictable bytes that never repeat: salts (16) and nonces (12). */
  readonly randomBytes?: (n: number) => Uint8Array;
  /** Longest token, in characters, prefix included. Default 65,536. */
  readonly maxLength?: number;
  /** How many derived keys are kept for opening. Default 1,024 (about 150 bytes each). */
  readonly cacheSize?: number;
}
