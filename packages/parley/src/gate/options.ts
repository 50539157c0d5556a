import type { ServerContext } from '@modelcontextprotocol/server';
import { ConfigurationError } from '../errors.js';
import { checkLimits } from '../flow/index.js';
import type { Ledger } from '../ledger/index.js';
import type { KeysInput } from '../seal/index.js';
import { DEFAULT_LIMITS, type Limits, type Logger } from './limits.js';
import type { Tasks } from './tasks.js';

/** Options of a {@link Parley}. */
export interface ParleyOptions {
  /**
   * The key ring: the first active key seals, all open; one must be active at start. One string may hold several,
   * separated by commas or white space. Make one with `parley keygen`. The same ring belongs on every instance.
   * Without keys an ephemeral one is made, with a warning: its states end with this process.
   */
  readonly keys?: KeysInput | undefined;
  /** Who the states are for. Default: the name of the attached server. Another audience has other keys. */
  readonly audience?: string | undefined;
  /**
   * Who makes a request; null for nobody. Default: issuer, client id and subject of `ctx.http.authInfo`.
   * Asked before a flow runs, and before a state is taken or sealed. When it throws, the request fails.
   */
  readonly principal?: ((ctx: ServerContext) => string | null | Promise<string | null>) | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Milliseconds that a round may wait for its answer. Default 10 minutes. */
  readonly ttl?: number | undefined;
  /** Milliseconds that a whole flow may take; it does not slide. Default 24 hours. */
  readonly deadline?: number | undefined;
  /** Milliseconds by which the clocks of instances may be apart: a state is taken that much longer. Default 0. */
  readonly clockSkew?: number | undefined;
  /**
   * The store that makes things happen at most once: `redisLedger`, `postgresLedger`, `memoryLedger`. Without one,
   * `flow.once` and `singleUse` use the memory of this process, with a warning.
   */
  readonly ledger?: Ledger | undefined;
  /**
   * The tasks extension (`io.modelcontextprotocol/tasks`): `memoryTasks()` of `mcp-parley/tasks`, or `postgresTasks()` of
   * `mcp-parley/tasks/postgres`. Without it flows cannot become tasks.
   */
  readonly tasks?: Tasks | undefined;
  /** Whether rounds are single-use where a handler does not say. Default false. */
  readonly singleUse?: boolean | undefined;
  /** Milliseconds that a request waits for another that does the same work. Default 10,000. */
  readonly patience?: number | undefined;
  /** Milliseconds that the ledger may take for an answer, before a round fails and nothing runs. Default 2,000. */
  readonly ledgerTimeout?: number | undefined;
  /** Milliseconds after which work is given up for dead when its process is. Extended while it lives. Default 30,000. */
  readonly lease?: number | undefined;
  /** Pads states to Padmé lengths, so that their length says little of their contents. Default false. */
  readonly pad?: boolean | undefined;
  /** Default: `console.warn`, which on stdio servers is standard error. */
  readonly logger?: Logger | undefined;
  /** The clock, in ms since 1970. For tests. */
  readonly now?: (() => number) | undefined;
}

/** Options with their defaults, checked. */
export interface Settings {
  readonly limits: Limits;
  readonly ttl: number;
  readonly deadline: number;
  readonly pad: boolean;
  readonly clockSkew: number;
  readonly singleUse: boolean;
  readonly patience: number;
  readonly ledgerTimeout: number;
  readonly lease: number;
  readonly now: () => number;
  readonly logger: Logger;
}

/** @throws ConfigurationError for a bound or time that is not a positive whole number. */
export function settingsOf(options: ParleyOptions): Settings {
  const limits = checkLimits({ ...DEFAULT_LIMITS, ...options.limits });
  const { ttl = 10 * 60_000, deadline = 24 * 60 * 60_000 } = options;
  checkDuration('ttl', ttl);
  checkDuration('deadline', deadline);
  const { clockSkew = 0, patience = 10_000, ledgerTimeout = 2_000, lease = 30_000 } = options;
  checkDuration('patience', patience);
  checkDuration('ledgerTimeout', ledgerTimeout);
  checkDuration('lease', lease);
  if (!Number.isSafeInteger(clockSkew) || clockSkew < 0) {
    throw new ConfigurationError('clockSkew must be a whole number of milliseconds, not below 0.');
  }
  return {
    limits,
    ttl,
    deadline,
    pad: options.pad ?? false,
    clockSkew,
    singleUse: options.singleUse ?? false,
    patience,
    ledgerTimeout,
    lease,
    now: options.now ?? Date.now,
    logger: options.logger ?? { warn: (message) => console.warn(message) },
  };
}

/** @throws ConfigurationError when a duration is not a positive whole number of ms. */
export function checkDuration(name: string, ms: number | undefined): void {
  if (ms !== undefined && (!Number.isSafeInteger(ms) || ms < 1)) {
    throw new ConfigurationError(`${name} must be a positive whole number of milliseconds.`);
  }
}
