import { SavedFlowInvalid, SavedFlowOutdated } from '../errors.js';
import { locked, type Held } from './file-lock.js';
import { loadFlow, type SavedFlow } from './saved-flow.js';
import type { FlowStore } from './store.js';

/** Far more than a flow takes: the questions of a round, 1 MiB of state, and the arguments of the call. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * A saved flow in a file of its own (Node.js only). Written whole or not at all (a new file is renamed over the old
 * one), readable by its owner only (mode 0600), and by one process at a time (for which there is a second file, with
 * `.lock` in its name). Symbolic links, files that others own or can write to, and files that hold anything but a
 * saved flow of a version that this build knows, are refused: neither read, overwritten nor removed.
 *
 * Its methods throw `SavedFlowInvalid` for those, `SavedFlowOutdated` when the file holds something else than is
 * expected there, and the file system's own errors.
 */
export function fileStore(path: string): FlowStore {
  return {
    load: () => read(path),
    async save(flow, previous) {
      const text = new TextEncoder().encode(`${JSON.stringify(loadFlow(flow))}\n`);
      if (text.length > MAX_BYTES) throw new SavedFlowInvalid('it', `takes more than ${MAX_BYTES} bytes`);
      await locked(path, async (held) => {
        requirePrevious(await read(path), flow, previous);
        await sweep(path);
        await replace(path, text, held);
      });
    },
    async clear(previous) {
      if ((await read(path)) === undefined) return;
      await locked(path, async (held) => {
        const there = await read(path);
        await sweep(path);
        if (there === undefined) return;
        if (previous !== undefined) requirePrevious(there, previous, previous);
        const { unlink } = await import('node:fs/promises');
        await held.require();
        await unlink(path).catch(absent);
        await syncFolder(path);
      });
    },
  };
}

function requirePrevious(
  there: SavedFlow | undefined,
  flow: SavedFlow,
  previous: SavedFlow | null | undefined,
): void {
  if (there === undefined) {
    if (previous === undefined || previous === null) return;
    throw new SavedFlowOutdated('nothing');
  }
  if (there.id !== (previous ?? flow).id) throw new SavedFlowOutdated('another call');
  const isExpected =
    previous === undefined ? there.revision < flow.revision : there.revision === previous?.revision;
  if (!isExpected) throw new SavedFlowOutdated('another revision');
}

async function read(path: string): Promise<SavedFlow | undefined> {
  const { constants, lstat, open } = await import('node:fs/promises');
  // Before it is opened: opening a pipe would wait for whoever writes to it.
  const stats = await lstat(path).catch(absent);
  if (stats === undefined) return undefined;
  requireOwn(stats);
  // Windows has no such flag; there the look before the opening must do.
  const noFollow = (constants as { readonly O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0;
  const file = await open(path, constants.O_RDONLY | noFollow).catch(absent);
  if (file === undefined) return undefined;
  try {
    const opened = await file.stat();
    requireOwn(opened);
    if (opened.size > MAX_BYTES) throw new SavedFlowInvalid('the file', 'is too large');
    return loadFlow(await file.readFile('utf8'));
  } finally {
    await file.close();
  }
}

interface Stats {
  readonly uid: number;
  readonly mode: number;
  isFile(): boolean;
}

/** Whoever can change the file says what its reader is asked, and what is sent in the reader's name. */
function requireOwn(stats: Stats): void {
  if (!stats.isFile()) throw new SavedFlowInvalid('the file', 'is not a regular file');
  // Windows has neither owners by number nor such rights.
  if (process.getuid === undefined) return;
  if (stats.uid !== process.getuid()) {
    throw new SavedFlowInvalid(
      'the file',
      'belongs to somebody else: if you trust it, resume a copy of your own',
    );
  }
  if ((stats.mode & 0o022) !== 0) {
    throw new SavedFlowInvalid(
      'the file',
      'can be changed by others: if you trust it, forbid that (chmod go-w)',
    );
  }
}

async function replace(path: string, text: Uint8Array, held: Held): Promise<void> {
  const { open, rename, unlink } = await import('node:fs/promises');
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  const file = await open(draft, 'wx', 0o600);
  try {
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await held.require();
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  await syncFolder(path);
}

/** Without it, a crash of the machine may bring the old file back. Not all systems can. */
async function syncFolder(path: string): Promise<void> {
  const { open } = await import('node:fs/promises');
  const paths = await import('node:path');
  const folder = await open(paths.dirname(path), 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** What crashes in the middle of writing left behind; it holds states. Under the lock nobody else is writing. */
async function sweep(path: string): Promise<void> {
  const { readdir, unlink } = await import('node:fs/promises');
  const paths = await import('node:path');
  const [folder, name] = [paths.dirname(path), paths.basename(path)];
  const left = (await readdir(folder)).filter(
    (file) =>
      file.startsWith(`${name}.`) &&
      /^\.(?:lock\.[\da-f-]{36}|[\da-f-]{36}\.tmp)$/.test(file.slice(name.length)),
  );
  for (const file of left) await unlink(paths.join(folder, file)).catch(() => undefined);
}

function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
