import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  lstat,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  drive,
  fileStore,
  flowOf,
  FlowNotSaved,
  resume,
  SavedFlowInvalid,
  SavedFlowOutdated,
  type SavedFlow,
} from '../../src/client/index.js';
import { CALL, done, failureOf, interim, optionsWith, scripted, textForm } from './harness.js';
import { FLOW, leaving } from './stores.js';
import { text } from './task-script.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-flow-'));
  path = join(folder, 'flow.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const later = (revision: number): SavedFlow => ({ ...FLOW, revision, requestState: `state-${revision}` });

/** A flow on disk, however it came there. */
async function write(flow: unknown = FLOW, mode = 0o600): Promise<void> {
  await writeFile(path, typeof flow === 'string' ? flow : JSON.stringify(flow));
  await chmod(path, mode);
}

describe('fileStore', () => {
  it('saves for the owner only, in place of what was there, and leaves nothing else behind', async () => {
    const store = fileStore(path);
    expect(await store.load()).toBeUndefined();
    await store.save(FLOW);
    await chmod(path, 0o644);
    await store.save(later(3));
    expect((await lstat(path)).mode & 0o777).toBe(0o600);
    expect(await store.load()).toEqual(later(3));
    expect(await readdir(folder)).toEqual(['flow.json']);
    await store.clear();
    await store.clear();
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['a link to a flow', () => symlink(join(folder, 'real.json'), path)],
    ['a link to nowhere', () => symlink(join(folder, 'nowhere'), path)],
    ['a file of something else', () => write('{"name":"my-package"}')],
    ['a file of a later version', () => write({ ...FLOW, version: 2 })],
    ['an empty file', () => write('')],
  ])('refuses %s: it is not read, not overwritten, not removed', async (_, make) => {
    const real = join(folder, 'real.json');
    await writeFile(real, JSON.stringify(FLOW));
    await make();
    const store = fileStore(path);
    expect(await failureOf(store.load())).toBeInstanceOf(SavedFlowInvalid);
    expect(await failureOf(store.save(FLOW))).toBeInstanceOf(SavedFlowInvalid);
    expect(await failureOf(store.clear())).toBeInstanceOf(SavedFlowInvalid);
    expect(await readFile(real, 'utf8')).toBe(JSON.stringify(FLOW));
    expect((await readdir(folder)).toSorted()).toEqual(['flow.json', 'real.json']);
  });

  it.each([
    ['by anybody', 0o606],
    ['by a group', 0o660],
  ])(
    'refuses a file that can be changed %s: it could hold any call, in the name of its reader',
    async (_, mode) => {
      await write(FLOW, mode);
      const store = fileStore(path);
      const failure = await failureOf(store.load());
      expect(failure).toBeInstanceOf(SavedFlowInvalid);
      expect(failure.message).toContain('chmod go-w');
      expect(await failureOf(store.save(later(3)))).toBeInstanceOf(SavedFlowInvalid);
      expect(await failureOf(store.clear())).toBeInstanceOf(SavedFlowInvalid);
      await chmod(path, 0o644);
      expect(await store.load()).toEqual(FLOW);
    },
  );

  it.skipIf(process.getuid?.() !== 0)('refuses a file of somebody else', async () => {
    await write();
    await chown(path, 65_534, 65_534);
    const failure = await failureOf(fileStore(path).load());
    expect(failure).toBeInstanceOf(SavedFlowInvalid);
    expect(failure.message).toContain('belongs to somebody else');
  });

  it('refuses to save what is no flow, and what it could not read again', async () => {
    const store = fileStore(path);
    const large = { ...FLOW, requestState: 'x'.repeat(33 * 1024 * 1024) };
    for (const flow of [{ ...FLOW, version: 9 as 1 }, large]) {
      expect(await failureOf(store.save(flow))).toBeInstanceOf(SavedFlowInvalid);
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it('in a folder that is not there is found out before the first request leaves', async () => {
    const { client, sent } = await scripted(() => done());
    const store = fileStore(join(folder, 'missing', 'flow.json'));
    const failure = await failureOf(drive(client, CALL, optionsWith({ store })));
    expect(failure).toBeInstanceOf(FlowNotSaved);
    expect(failure.cause).toMatchObject({ code: 'ENOENT' });
    expect(sent).toHaveLength(0);
  });

  it('costs no result when somebody has touched the file in the meantime', async () => {
    const { client } = await scripted(async (_request, nth) => {
      if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 'state-1' });
      await writeFile(path, '');
      return done('deployed');
    });
    expect(await drive(client, CALL, optionsWith({ store: fileStore(path) }))).toMatchObject(
      text('deployed'),
    );
    expect(await readFile(path, 'utf8')).toBe('');
  });

  it('is not jammed by questions of 33 MB, which fail the call', async () => {
    const { client, sent } = await scripted(() =>
      interim({ inputRequests: { q: textForm('x'.repeat(33 * 1024 * 1024)) }, requestState: 's' }),
    );
    const failure = await failureOf(drive(client, CALL, optionsWith({ store: fileStore(path) })));
    expect(failure).toMatchObject({ code: 'invalid_response' });
    expect(sent).toHaveLength(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('nor by a state that a host allows to be larger than a file: the error carries the flow', async () => {
    const state = 'x'.repeat(33 * 1024 * 1024);
    const { client } = await scripted((_request, nth) =>
      nth === 1 ? interim({ inputRequests: { q: textForm() }, requestState: state }) : done('deployed'),
    );
    const options = optionsWith({ maxStateBytes: 64 * 1024 * 1024 });
    const failure = await failureOf(drive(client, CALL, { ...options, store: fileStore(path) }));
    expect(failure).toBeInstanceOf(FlowNotSaved);
    expect(await fileStore(path).load()).toMatchObject({ round: 0 });
    expect(await resume(client, flowOf(failure), options)).toMatchObject(text('deployed'));
  });
});

describe('what fileStore saves over', () => {
  it.each<[string, SavedFlow | undefined, SavedFlow | null | undefined, string | undefined]>([
    ['nothing, where nothing is there', undefined, null, undefined],
    ['nothing, where the flow is there', FLOW, null, 'another revision'],
    ['nothing, where another call is there', { ...FLOW, id: 'other' }, null, 'another call'],
    ['the flow, where it is there', FLOW, FLOW, undefined],
    ['the flow, where nothing is there', undefined, FLOW, 'nothing'],
    ['the flow, where a later revision is there', later(5), FLOW, 'another revision'],
    ['the flow, where another call is there', { ...FLOW, id: 'other' }, FLOW, 'another call'],
    ['whatever is there, where nothing is', undefined, undefined, undefined],
    ['whatever is there, where an earlier revision is', FLOW, undefined, undefined],
    ['whatever is there, where the same revision is', later(4), undefined, 'another revision'],
    ['whatever is there, where a later revision is', later(5), undefined, 'another revision'],
    ['whatever is there, where another call is', { ...FLOW, id: 'other' }, undefined, 'another call'],
  ])('%s', async (_, there, previous, found) => {
    if (there !== undefined) await write(there);
    const store = fileStore(path);
    const saving = previous === undefined ? store.save(later(4)) : store.save(later(4), previous);
    if (found === undefined) await saving;
    else expect(await failureOf(saving)).toMatchObject({ code: 'saved_flow_outdated', found });
    expect(await store.load()).toEqual(found === undefined ? later(4) : there);
  });

  it.each<[SavedFlow, SavedFlow | undefined, string | undefined]>([
    [FLOW, FLOW, undefined],
    [FLOW, undefined, undefined],
    [later(5), FLOW, 'another revision'],
    [{ ...FLOW, id: 'other' }, FLOW, 'another call'],
  ])('and clears (%#)', async (there, previous, found) => {
    await write(there);
    const store = fileStore(path);
    const clearing = store.clear(previous);
    if (found === undefined) await clearing;
    else expect(await failureOf(clearing)).toBeInstanceOf(SavedFlowOutdated);
    expect(await store.load()).toEqual(found === undefined ? undefined : there);
  });

  it('is one of many who write at once, whatever process they are in', async () => {
    await write();
    const [stores, each] = [5, 20];
    const results: string[][] = await Promise.all(
      Array.from({ length: stores }, async (_, nth) => {
        const child = fork(fileURLToPath(new URL('servers/file-saver.ts', import.meta.url)), {
          execArgv: ['--import', 'tsx'],
        });
        const died = once(child, 'exit').then(() => Promise.reject(new Error('it ended too soon')));
        const heard = async (): Promise<unknown> => {
          const [message] = (await Promise.race([once(child, 'message'), died])) as [unknown];
          return message;
        };
        expect(await heard()).toBe('ready');
        child.send({ path, flow: FLOW, writer: nth, times: each });
        const saved = (await heard()) as string[];
        died.catch(() => undefined);
        child.disconnect();
        return saved;
      }),
    );
    // Each revision was saved by one, and the last one is what is there.
    const saved = results.flat();
    expect(new Set(saved.map((name) => name.split(' ')[0])).size).toBe(saved.length);
    expect(saved).toHaveLength(each);
    const last = await fileStore(path).load();
    expect(last?.revision).toBe(FLOW.revision + each);
    expect(saved).toContain(`${last?.revision} ${last?.requestState}`);
    expect(await readdir(folder)).toEqual(['flow.json']);
  });

  it('keeps a call that another one begins with from being lost, or mixed with it', async () => {
    const { client, sent } = await scripted(() =>
      interim({ inputRequests: { q: textForm() }, requestState: 'state-1' }),
    );
    const store = fileStore(path);
    const begin = () => failureOf(drive(client, CALL, optionsWith({ store, handlers: leaving })));
    const codes = (await Promise.all([begin(), begin()])).map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['unanswered', 'configuration']));
    expect(sent).toHaveLength(1);
    expect(await store.load()).toMatchObject({ round: 1 });
  });
});

describe('after a crash', () => {
  const draft = '00000000-0000-4000-8000-000000000000';

  it('no copy of a state stays behind for good', async () => {
    await writeFile(`${path}.${draft}.tmp`, JSON.stringify(FLOW));
    await writeFile(`${path}.lock.${draft}`, '');
    // Files of others are none of its business.
    await writeFile(join(folder, `other.${draft}.tmp`), '');
    await writeFile(`${path}.tmp`, '');
    const store = fileStore(path);
    await store.save(FLOW);
    expect((await readdir(folder)).toSorted()).toEqual(['flow.json', 'flow.json.tmp', `other.${draft}.tmp`]);
  });

  it('in the middle of saving, what was there before is there, and is saved over', async () => {
    await write();
    await writeFile(`${path}.lock`, 'somebody who has died');
    await utimes(`${path}.lock`, new Date(0), new Date(0));
    await writeFile(`${path}.${draft}.tmp`, JSON.stringify(later(3)).slice(0, 40));
    const store = fileStore(path);
    expect(await store.load()).toEqual(FLOW);
    await store.save(later(3), FLOW);
    expect(await store.load()).toEqual(later(3));
    expect(await readdir(folder)).toEqual(['flow.json']);
  });
});
