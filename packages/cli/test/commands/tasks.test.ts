import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { taskServer, type HandTask, type TaskServer } from '../../../parley/test/client/servers/tasks.js';
import { parley, stoppable, temporaryFolder } from '../parley.js';
import { form, scripted, serve, toolsResult, type Loopback } from '../servers/http.js';

/* Calls that become tasks on the server (extension io.modelcontextprotocol/tasks). */

const folder = temporaryFolder();
const open: Loopback[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

async function serving(work: (task: HandTask) => void): Promise<TaskServer & { readonly url: string }> {
  const server = taskServer(work);
  const loopback = await serve(server.create);
  open.push(loopback);
  return { ...server, url: loopback.url };
}

/** A task that asks two questions, one after the other. */
function asking(task: HandTask): void {
  const [one, two] = [task.answer('one'), task.answer('two')];
  if (one === undefined) task.ask({ one: form('One?') });
  else if (two === undefined) task.ask({ two: form('Two?') });
  else task.complete({ content: [{ type: 'text', text: JSON.stringify([one, two]) }] });
}

let count = 0;

function file(name: string, content?: unknown): string {
  const path = join(folder, `${(count += 1)}-${name}`);
  if (content !== undefined) writeFileSync(path, JSON.stringify(content));
  return path;
}

const [ONE, TWO] = [{ one: { text: 'a' } }, { two: { text: 'b' } }];
const BOTH = '[{"action":"accept","content":{"text":"a"}},{"action":"accept","content":{"text":"b"}}]\n';

describe('a call that becomes a task', () => {
  it('is driven to its end with the answers of a file', async () => {
    const { url } = await serving(asking);
    const answers = file('answers.json', { ...ONE, ...TWO });
    expect(await parley(['call', url, 't', '--answers', answers])).toMatchObject({ code: 0, out: BOTH });
  });

  it('is left at its first question without an answer, and resumed', async () => {
    const { url, tasks } = await serving(asking);
    const path = file('flow.json');
    const saved = await parley(['call', url, 't', '--save', path, '--answers', file('a.json', ONE)]);
    expect(saved).toMatchObject({ code: 4, out: '' });
    expect(saved.err).toContain(`  "two": Two?\n`);
    expect(saved.err).toContain(`The call is saved in ${path}.`);
    const [id = ''] = tasks.keys();
    expect(readFileSync(path, 'utf8')).toContain(id);
    expect(saved.err).not.toContain(id);
    expect(await parley(['resume', path, '--answers', file('b.json', TWO)])).toMatchObject({
      code: 0,
      out: BOTH,
    });
    expect(existsSync(path)).toBe(false);
  });

  it.each<[string, (task: HandTask) => void, number, RegExp]>([
    [
      'reports an error',
      (task) => task.complete({ content: [], isError: true }),
      3,
      /The tool reports an error/,
    ],
    [
      'fails',
      (task) => task.fail({ code: -32_000, message: `\u001b[2J ${task.id}` }),
      1,
      /it answers with error -32000: \\u001b\[2J \[taskId\]\n$/,
    ],
    ['is cancelled by somebody else', (task) => (task.status = 'cancelled'), 1, /was cancelled/],
  ])('and %s', async (_, work, code, message) => {
    const { url } = await serving(work);
    const ran = await parley(['call', url, 't']);
    expect(ran).toMatchObject({ code, out: '' });
    expect(ran.err).toMatch(message);
  });

  it('and is forgotten: code 5', async () => {
    const server = await serving((task) => server.tasks.delete(task.id));
    const { code, err } = await parley(['call', server.url, 't']);
    expect(code).toBe(5);
    expect(err).toContain('does not know the task');
  });

  it('is cancelled on the server when the command is stopped, unless it is saved', async () => {
    const { onStop, stop } = stoppable();
    let looks = 0;
    const server = await serving((task) => {
      task.working();
      if ((looks += 1) === 3) stop('SIGINT');
    });
    const stopped = await parley(['call', server.url, 't'], { onStop });
    expect(stopped).toEqual({ code: 130, out: '', err: 'parley: Stopped.\n' });
    expect(server.log).toContain('cancel');

    server.log.length = 0;
    looks = 0;
    const path = file('flow.json');
    const left = await parley(['call', server.url, 't', '--save', path], { onStop });
    expect(left.code).toBe(130);
    expect(left.err).toContain(`The call is kept in ${path}. Go on with\n  parley resume ${path}\n`);
    expect(server.log).not.toContain('cancel');
  });

  it('and cannot be cancelled: it is said that it may still be running', async () => {
    const { onStop, stop } = stoppable();
    const task = { taskId: 'task-0123456789', status: 'working', ttlMs: 60_000, pollIntervalMs: 100 };
    const times = { createdAt: '2026-07-28T12:00:00Z', lastUpdatedAt: '2026-07-28T12:00:00Z' };
    const server = await scripted(({ method }) => {
      if (method === 'tools/list') return toolsResult({ name: 't' });
      if (method === 'tools/call') return { resultType: 'task', ...task, ...times };
      if (method === 'tasks/get') stop('SIGTERM');
      return method === 'tasks/get'
        ? { resultType: 'complete', ...task, ...times }
        : { code: -32_603, message: 'no' };
    });
    open.push(server);
    const { code, err } = await parley(['call', server.url, 't'], { onStop });
    expect(code).toBe(143);
    expect(err).toBe('parley: Stopped. Its task could not be cancelled, and may still be running.\n');
  });
});
