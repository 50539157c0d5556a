import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { parley, temporaryFolder } from '../parley.js';
import { asks, done, form, scripted, toolsResult, type WireRequest } from '../servers/http.js';

const folder = temporaryFolder();
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const SECRET = 'secret-of-ann-in-her-header';
const HOSTILE = '\u001b[2J\u202e</script><style>*{display:none}</style>';

/** Audits tool `t` of a server that is all script, and gives all that is shown or written. */
async function auditAll(
  call: (request: WireRequest) => unknown,
  {
    only = [],
    list,
  }: { readonly only?: readonly string[]; readonly list?: (request: WireRequest) => unknown } = {},
): Promise<{ readonly code: number | null; readonly err: string; readonly all: readonly string[] }> {
  const server = await scripted((request) =>
    request.method === 'tools/list'
      ? (list?.(request) ?? toolsResult({ name: 't' }))
      : request.method === 'tools/call'
        ? call(request)
        : { code: -32_601, message: 'no' },
  );
  open.push(server);
  const files = ['a.html', 'a.json', 'a.sarif'].map((name) => join(folder, name));
  const args = ['audit', server.url, '--tool', 't', '--as', `Authorization: Bearer ${SECRET}`];
  const { code, out, err } = await parley([
    ...args,
    ...only.flatMap((id) => ['--only', id]),
    ...files.flatMap((file) => ['--report', file]),
  ]);
  return { code, err, all: [out, err, ...files.flatMap((file) => read(file))] };
}

function read(file: string): string[] {
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return []; // it was not audited
  }
}

it('shows no header that the server sends back, in whatever place, and nothing raw', async () => {
  const state = Buffer.from(JSON.stringify({ [SECRET]: 1, [HOSTILE]: SECRET })).toString('base64url');
  const { all } = await auditAll(
    ({ params, headers }) =>
      params['requestState'] === undefined
        ? asks({ [`q${HOSTILE}`]: form(`${HOSTILE} ${headers.authorization}`) }, state)
        : {
            code: -32_602,
            message: `${HOSTILE} ${headers.authorization} ${state}`,
            data: { [String(headers.authorization)]: [headers.authorization, state] },
          },
    { only: ['state-readable', 'state-kind', 'refusal-tells', 'state-only-retry'] },
  );
  expect(all).toHaveLength(5);
  for (const text of all) {
    for (const leak of [SECRET, state, '\u001b', '\u202e']) expect(text).not.toContain(leak);
    if (text.startsWith('<!doctype')) expect(text).not.toContain('</script>');
  }
});

it.each<[string, (request: WireRequest) => unknown]>([
  ['at the first call', ({ headers }) => ({ code: -32_000, message: `no, ${headers.authorization}` })],
  ['in the state of a question', ({ headers }) => asks({ q: form('Q?') }, String(headers.authorization))],
])('shows no header that comes back %s', async (_, call) => {
  const { all } = await auditAll(call, { only: ['state-readable'] });
  for (const text of all) expect(text).not.toContain(SECRET);
});

it('shows no header that comes back instead of the list of tools', async () => {
  const { all, code } = await auditAll(() => done('x'), {
    list: ({ headers }) => ({ code: -32_000, message: `no, ${headers.authorization}` }),
  });
  expect(code).toBe(1);
  for (const text of all) expect(text).not.toContain(SECRET);
});

it('says that nobody answers so many questions', async () => {
  const questions = Object.fromEntries(Array.from({ length: 50_000 }, (_, nth) => [`q${nth}`, {}]));
  const { code, err } = await auditAll(() => asks(questions, 's'));
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringContaining('t does not answer: more than 200 questions in one result.') as string,
  });
});

it('ends with a server that asks for ever, a form of ever more fields', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 500 }, (_, nth) => [`f${nth}`, { type: 'object', pattern: '^(a+)+$' }]),
  );
  const { code, err, all } = await auditAll(() => asks({ q: form('Q?', properties) }, 's'), {
    only: ['interim-malformed', 'form-asks-secret', 'url-question-unsafe'],
  });
  expect(err).toContain('still asks after 20 rounds');
  expect(code).toBe(1);
  for (const text of all) expect(text.length).toBeLessThan(500_000);
});
