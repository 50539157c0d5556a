/**
 * A process that goes on with a saved flow as often as it can, beside others. It tells its parent which revisions it
 * has saved, and when it is ready.
 */
import { fileStore, SavedFlowOutdated, type SavedFlow } from '../../../src/client/index.js';

interface Job {
  readonly path: string;
  readonly flow: SavedFlow;
  readonly writer: number;
  /** How often it is gone on with, by all together. */
  readonly times: number;
}

process.once('message', (job: Job) => void save(job).then((saved) => process.send?.(saved)));
process.once('disconnect', () => process.exit());
process.send?.('ready');

async function save({ path, flow, writer, times }: Job): Promise<string[]> {
  const store = fileStore(path);
  const saved: string[] = [];
  for (;;) {
    const there = await store.load();
    if (there === undefined) throw new Error('it is gone');
    if (there.revision >= flow.revision + times) return saved;
    const next = { ...there, revision: there.revision + 1, requestState: `of ${writer}` };
    try {
      await store.save(next, there);
      saved.push(`${next.revision} ${next.requestState}`);
    } catch (error) {
      if (!(error instanceof SavedFlowOutdated)) throw error;
    }
  }
}
