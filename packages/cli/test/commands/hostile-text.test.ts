import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parley, temporaryFolder, type Ran } from '../parley.js';
import { asks, done, form, scripted, toolsResult, type Loopback, type WireRequest } from '../servers/http.js';

/** Clears the screen, sets the title of the window, turns text around, hides, and breaks a line. */
const EVIL = 'a\u001b[2J\u001b]0;owned\u0007\u009b31m\u202etxt\u2066\u200b\u2028\u{e0041}\u0000\rb';

/** What a terminal acts on, or nobody sees. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const folder = temporaryFolder();
let server: Loopback;
beforeAll(async () => void (server = await scripted(hostile)));
afterAll(() => server.close());

/** A server that writes EVIL wherever it may write. */
function hostile({ method, params }: WireRequest): unknown {
  const name = String(params['name']);
  const properties = {
    [EVIL]: { type: 'string', title: EVIL, description: EVIL, enum: [EVIL, 'b'], default: EVIL },
  };
  switch (method) {
    case 'tools/list':
      return toolsResult(
        ...['ask', 'page', 'result', 'refuse', EVIL].map((each) => ({
          name: each,
          title: EVIL,
          description: EVIL,
          inputSchema: { type: 'object', properties },
        })),
      );
    case 'prompts/list':
      return { ...toolsResult(), prompts: [{ name: EVIL, arguments: [{ name: EVIL, required: true }] }] };
    case 'prompts/get':
      return {
        resultType: 'complete',
        messages: [{ role: 'user', content: { type: 'text', text: EVIL } }],
      };
    case 'resources/read':
      return {
        ...toolsResult(),
        contents: [{ uri: EVIL, text: EVIL }],
      };
    case 'tools/call':
      if (name === 'ask') return asks({ [EVIL]: form(EVIL, properties) }, 'state');
      if (name === 'page') {
        const url = `https://example.com/?q=${encodeURIComponent(EVIL)}`;
        const params = { mode: 'url', message: EVIL, url, elicitationId: '1' };
        return asks({ page: { method: 'elicitation/create', params } }, 'state');
      }
      if (name === 'refuse') return { code: -32_000, message: EVIL };
      return {
        ...done(EVIL),
        content: [
          { type: 'text', text: EVIL },
          { type: 'resource_link', uri: EVIL, name: EVIL },
          { type: 'resource', resource: { uri: EVIL, text: EVIL } },
          { type: 'image', data: 'aGk=', mimeType: EVIL },
        ],
        structuredContent: { [EVIL]: EVIL },
        isError: true,
      };
  }
  return undefined;
}

function expectHarmless({ out, err }: Ran): void {
  for (const line of `${out}\n${err}`.split('\n')) expect(line).not.toMatch(UNSEEN);
}

describe('what a server writes cannot do anything on a terminal', () => {
  const path = join(folder, 'answers.json');
  writeFileSync(path, JSON.stringify({ page: { action: 'accept' }, [EVIL]: { [EVIL]: 'c' } }));

  it.each([
    ['the list of tools', ['tools'], 0],
    ['the list of tools as JSON', ['tools', '--output', 'json'], 0],
    ['a result', ['call', 'result', `${EVIL}=b`], 3],
    ['a result as JSON', ['call', 'result', '--output', 'json'], 3],
    ['a question', ['call', 'ask'], 4],
    ['a question that is left', ['call', 'ask', '--save', join(folder, 'flow.json')], 4],
    ['an answer that does not fit', ['call', 'ask', '--answers', path], 4],
    ['a page, twice', ['call', 'page', '--answers', path], 4],
    ['an error', ['call', 'refuse'], 1],
    ['an error, at length', ['call', 'refuse', '--verbose'], 1],
    ['the names of tools', ['call', 'a'], 2],
    ['the parameters of a tool', ['call', 'ask', 'x=1'], 2],
    ['the choices of a parameter', ['call', 'ask', `${EVIL}=x`], 2],
    ['the names of prompts', ['prompt', 'x'], 2],
    ['the arguments of a prompt', ['prompt', EVIL], 2],
    ['a prompt', ['prompt', EVIL, `${EVIL}=x`], 0],
    ['a resource', ['read', 'x://y'], 0],
  ])('%s', async (_, [command = '', ...args], code) => {
    const ran = await parley([command, server.url, ...args]);
    expect(ran.code).toBe(code);
    expectHarmless(ran);
    expect(ran.out + ran.err).toMatch(/\\u001b|\\u009b|parley: http/);
  });

  it('JSON stays the same value', async () => {
    const { out } = await parley(['call', server.url, 'result', '--output', 'json']);
    expect(JSON.parse(out)).toMatchObject({ structuredContent: { [EVIL]: EVIL } });
  });
});
