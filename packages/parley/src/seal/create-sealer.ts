import { createSealer as create } from '#crypto';
import type { Sealer, SealerOptions } from './sealer.js';

/**
 * Makes the sealer of this runtime. Its results are typed as maybe promises, because the compiler sees only Node's
 * implementation, which is synchronous: code that forgot to await would break on every other runtime.
 *
 * @throws ConfigurationError for an empty ring, an unusable audience, two keys of one id, or impossible limits.
 */
export const createSealer: (options: SealerOptions) => Sealer = create;
