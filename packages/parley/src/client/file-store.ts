import { SavedFlowInvalid } from '../errors.js';
import { loadFlow, type SavedFlow } from './saved-flow.js';

/** A place for one saved flow. */
export interface FlowStore {
  /** What is saved, or `undefined` when nothing is. */
  load(): Promise<SavedFlow | undefined>;
  /** Saves a flow in place of what was saved. After it resolved, a crash must not lose it. */
  save(flow: SavedFlow): Promise<void>;
  /** Forgets what is saved. Nothing saved is not an error. */
  clear(): Promise<void>;
}

/** Far more than a flow takes: 16 questions of forms and 1 MiB of state. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * A saved flow in a file of its own (Node.js only). Written whole or not at all (a new file is renamed over the old
 * one), readable by its owner only (mode 0600). Symbolic links, and files that hold anything but a saved flow of a
 * version that this build knows, are refused: neither read, overwritten nor removed.
 *
 * Its methods throw `SavedFlowInvalid` for those, and the file system's own errors.
 */
export function fileStore(path: string): FlowStore {
  const load = async (): Promise<SavedFlow | undefined> => {
    const { constants, open } = await import('node:fs/promises');
    await requireFile(path);
    const file = await open(path, constants.O_RDONLY | noFollow(constants)).catch(absent);
    if (file === undefined) return undefined;
    try {
      const { size } = await file.stat();
      if (size > MAX_BYTES) throw new SavedFlowInvalid('the file', 'is too large');
      return loadFlow(await file.readFile('utf8'));
    } finally {
      await file.close();
    }
  };
  return {
    load,
    async save(flow) {
      const { constants, open, rename, unlink } = await import('node:fs/promises');
      const text = `${JSON.stringify(loadFlow(flow))}\n`;
      await load();
      const draft = `${path}.${crypto.randomUUID()}.tmp`;
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow(constants);
      const file = await open(draft, flags, 0o600);
      try {
        try {
          await file.writeFile(text, 'utf8');
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(draft, path);
      } catch (error) {
        await unlink(draft).catch(() => undefined);
        throw error;
      }
    },
    async clear() {
      const { unlink } = await import('node:fs/promises');
      if ((await load()) === undefined) return;
      await unlink(path).catch(absent);
    },
  };
}

/** Windows has no such flag; there the look before the opening must do. */
function noFollow(constants: { readonly O_NOFOLLOW?: number }): number {
  return constants.O_NOFOLLOW ?? 0;
}

async function requireFile(path: string): Promise<void> {
  const { lstat } = await import('node:fs/promises');
  const stats = await lstat(path).catch(absent);
  if (stats !== undefined && !stats.isFile()) throw new SavedFlowInvalid('the file', 'is not a regular file');
}

function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
