import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateKey } from 'mcp-parley';
import { migrateTasks } from 'mcp-parley/tasks/postgres';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { service } from '../../../../test/services/use.js';
import { loadServerModule } from '../../src/server-module.js';
import { parley, start, stoppable, temporaryFolder } from '../parley.js';

const url = await service('postgres');
const folder = temporaryFolder();
const SERVER = fileURLToPath(new URL('../servers/tasks.mjs', import.meta.url));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe.skipIf(url === undefined)('parley worker, as a process', () => {
  const schema = `parley_cli_${randomBytes(6).toString('hex')}`;
  const env = { DATABASE_URL: url ?? '', TASKS_SCHEMA: schema, PARLEY_KEYS: generateKey() };
  const pool = new Pool({ connectionString: url });

  beforeAll(() => migrateTasks(pool, { schema }));
  afterAll(async () => {
    await pool.query(`DROP SCHEMA ${schema}, ${schema}_worker CASCADE`);
    await pool.end();
  });

  it('runs the tasks that a server makes elsewhere, and drains on SIGTERM', async () => {
    const worker = start(['worker', '--module', SERVER, '-n', '2'], { env: { ...env, WORKS: 'yes' } });
    await worker.saying('Ready: tasks run here, 2 at a time.\n');
    const answers = file('answers.json', '{"q":{"text":"Numbers"}}');
    const call = ['call', 'report', '--quiet', '--answers', answers, '--', process.execPath, SERVER];
    expect(await start(call, { env })).toEqual({ code: 0, out: `Numbers by ${worker.pid}\n`, err: '' });
    worker.kill('SIGTERM');
    const { code, out, err } = await worker;
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toMatch(/^Ready: [^\n]+\nSIGTERM: no more tasks are taken\.[^\n]+\n$/);
  });

  it('says that the tables are missing', async () => {
    const nowhere = { ...env, TASKS_SCHEMA: `${schema}_no` };
    const { code, err } = await start(['worker', '--module', SERVER], { env: nowhere });
    expect(code).toBe(1);
    expect(err).toContain('parley tasks migrate');
  });
});

describe('parley worker', () => {
  const none = 'export {};';
  const noFactory = 'export const parley = {};';
  const noParley = 'export default () => {};';

  it.each([
    ['is not there', undefined, 2, /is not there/],
    ['fails', 'throw new Error("no settings");', 1, /cannot be loaded: no settings/],
    ['imports what is not there', 'import "./nothing.mjs";', 1, /cannot be loaded: .*nothing/],
    ['exports nothing', none, 2, /has no export named parley.*postgresTasks/],
    ['exports no server', noFactory, 2, /exports no function that makes the server/],
    ['exports no parley', noParley, 2, /has no export named parley/],
  ])('says so when the module %s', async (name, text, code, message) => {
    const path = join(folder, `${name.replaceAll(' ', '-')}.mjs`);
    if (text !== undefined) file(`${name.replaceAll(' ', '-')}.mjs`, text);
    const ran = await parley(['worker', '--module', path], { loadServerModule });
    expect(ran).toMatchObject({ code, out: '', err: expect.stringMatching(message) });
  });

  it.each([
    ['default.mjs', 'export const parley = {}; export default function made() {}'],
    ['named.mjs', 'export const parley = {}; export function factory() {}'],
    ['whole.cjs', 'module.exports = { parley: {}, factory() {} };'],
    ['hidden.cjs', 'module.exports = Object.assign(Object.create(null), { parley: {}, factory() {} });'],
    [
      'compiled.cjs',
      'Object.defineProperty(exports, "__esModule", { value: true }); exports.parley = {}; exports.default = () => {};',
    ],
    ['function.cjs', 'module.exports = () => {}; module.exports.parley = {};'],
  ])('takes a module that exports as %s does', async (name, text) => {
    const module = await loadServerModule(file(name, text));
    expect(module.parley).toEqual({});
    expect(module.factory).toBeTypeOf('function');
  });

  it('runs until it is told to stop, and waits for what is under way', async () => {
    const { onStop, stop } = stoppable();
    const order: string[] = [];
    const ran = parley(['worker', '--module', 'm.js', '--concurrency', '7'], {
      onStop,
      loadServerModule: async (path) => ({ url: `file:///${path}`, parley: {}, factory: () => undefined }),
      startWorker: async ({ url }, { concurrency }) => {
        order.push(`${url} ${concurrency}`);
        setImmediate(() => stop('SIGINT'));
        return { stop: async () => void order.push('stopped') };
      },
    });
    expect(await ran).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining('SIGINT: no more tasks'),
    });
    expect(order).toEqual(['file:///m.js 7', 'stopped']);
  });

  it('stops also when the signal comes before it is ready', async () => {
    const { onStop, stop } = stoppable();
    let isStopped = false;
    const ran = await parley(['worker', '--module', 'm.js'], {
      onStop,
      loadServerModule: async () => {
        stop('SIGTERM');
        return { url: 'file:///m.js', parley: {}, factory: () => undefined };
      },
      startWorker: async () => ({ stop: async () => void (isStopped = true) }),
    });
    expect({ code: ran.code, isStopped }).toEqual({ code: 0, isStopped: true });
  });

  it.each([
    [['worker'], /required option '--module' not specified/],
    [['worker', '--module', 'm.js', '-n', '0'], /whole number from 1 to 1000/],
    [['worker', '--module', 'm.js', 'more'], /too many arguments/],
  ])('%j ends with code 2', async (args, message) => {
    expect(await parley(args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(message) });
  });
});
