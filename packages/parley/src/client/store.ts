import type { SavedFlow } from './saved-flow.js';

/**
 * A place for one saved flow.
 *
 * What `save` and `clear` are given as `previous` is what makes it safe for several processes: two who take up the
 * same call both know the same `previous`, and only the first one saves over it. The other one must be refused. The
 * driver saves before it sends, so that the refused one has sent nothing. A row of a database does that in one
 * statement (`UPDATE … WHERE revision = …`), a file by a lock.
 */
export interface FlowStore {
  /** What is saved, or `undefined` when nothing is. */
  load(): Promise<SavedFlow | undefined>;
  /**
   * Saves a flow in place of `previous`. After it resolved, a crash must not lose it.
   *
   * @param previous the flow that must be there, by its `id` and `revision`, or `null` where there must be none. Left
   * out, an earlier revision of the same flow is saved over, and nothing else.
   * @throws SavedFlowOutdated when something else is there, which is left as it is.
   */
  save(flow: SavedFlow, previous?: SavedFlow | null): Promise<void>;
  /**
   * Forgets what is saved. Nothing saved is not an error.
   *
   * @param previous the flow that must be there. Left out, any.
   * @throws SavedFlowOutdated when something else is there, which is left as it is.
   */
  clear(previous?: SavedFlow): Promise<void>;
}
