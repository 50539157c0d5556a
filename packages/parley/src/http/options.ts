import type { CreateMcpHandlerOptions } from '@modelcontextprotocol/server';

/** How many instances are kept at most while they have nothing to do, unless the options say otherwise. */
const MAX_IDLE = 256;

/** The SDK's options for its entry, and those of the pool. */
export interface PooledHandlerOptions extends CreateMcpHandlerOptions {
  /**
   * Instances of the factory that are kept while they have nothing to do. More requests at a time than this are
   * served too, each by an instance made for it. Default 256; 0 keeps none, which is the SDK's entry.
   */
  readonly maxIdle?: number;
}

/**
 * The number of instances to keep.
 *
 * @throws RangeError when it is no whole number from 0 on.
 */
export function maxIdleOf({ maxIdle = MAX_IDLE }: PooledHandlerOptions): number {
  if (Number.isSafeInteger(maxIdle) && maxIdle >= 0) return maxIdle;
  throw new RangeError(`maxIdle must be a whole number from 0 on, got ${String(maxIdle)}.`);
}
