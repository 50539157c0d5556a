import { ConfigurationError, SavedFlowOutdated } from '../errors.js';

/** What runs under a lock takes milliseconds. Whoever has held one for so long has died. */
const STALE_MS = 10_000;

/** So long somebody waits for it: longer than for a lock to be stale. */
const PATIENCE_MS = 20_000;

const PAUSE_MS = 10;

/** A lock that is held. */
export interface Held {
  /**
   * To be asked right before what is done under the lock takes effect.
   *
   * @throws SavedFlowOutdated when it was taken away, because this process stood still for too long.
   */
  require(): Promise<void>;
}

/**
 * Runs something for a file that one process does at a time, whichever process it is. The lock is a file beside it
 * that only one can create. One that was left behind by a crash is taken away after ten seconds.
 *
 * @throws ConfigurationError when others keep it for longer than twenty.
 */
export async function locked<T>(path: string, run: (held: Held) => Promise<T>): Promise<T> {
  const { readFile, unlink } = await import('node:fs/promises');
  const lock = `${path}.lock`;
  const mine: string = crypto.randomUUID();
  await acquire(lock, mine);
  const isMine = async (): Promise<boolean> => (await readFile(lock, 'utf8').catch(() => '')) === mine;
  try {
    return await run({
      async require() {
        if (!(await isMine())) throw new SavedFlowOutdated('another revision');
      },
    });
  } finally {
    if (await isMine()) await unlink(lock).catch(() => undefined);
  }
}

async function acquire(lock: string, mine: string): Promise<void> {
  const since = performance.now();
  while (!(await create(lock, mine))) {
    if (performance.now() - since > PATIENCE_MS) {
      throw new ConfigurationError(`${lock} is held by another process. Remove it if there is none.`);
    }
    await takeAwayStale(lock);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Whether there was none before. */
async function create(lock: string, mine: string): Promise<boolean> {
  const { open, unlink } = await import('node:fs/promises');
  const file = await open(lock, 'wx', 0o600).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    await file.writeFile(mine);
    return true;
  } catch (error) {
    await unlink(lock).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** By a new name first, so that of several who find it stale one takes it away. */
async function takeAwayStale(lock: string): Promise<void> {
  const { rename, stat, unlink } = await import('node:fs/promises');
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
  if (Math.abs(Date.now() - mtimeMs) < STALE_MS) return;
  const aside = `${lock}.${crypto.randomUUID()}`;
  await rename(lock, aside).catch(() => undefined);
  await unlink(aside).catch(() => undefined);
}
