import type { LazyAbort } from './abort.js';
import { checkMessage } from './detach.js';
import type { StepContext } from './flow.js';

/**
 * What the author's work gets; one for a run. A class for its accessor: in an object literal it would give every object
 * a hidden class of its own, through which an abandoned run stays in memory until a full collection.
 */
export class WorkContext implements StepContext {
  readonly heartbeat: StepContext['heartbeat'];
  readonly #abort: LazyAbort;

  constructor(abort: LazyAbort, beat: ((message: string | undefined) => Promise<void>) | undefined) {
    this.#abort = abort;
    this.heartbeat = async (message) => {
      checkMessage('heartbeat', message);
      await beat?.(message);
    };
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}
