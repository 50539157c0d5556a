import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKey } from 'mcp-parley';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parley, temporaryFolder } from '../parley.js';
import { flowsServer } from '../servers/flows.js';
import { serve, type Loopback } from '../servers/http.js';

const folder = temporaryFolder();
const answers = join(folder, 'answers.json');
writeFileSync(answers, '{"tone":{"tone":"kind"},"full":{"full":true}}');
let server: Loopback;
beforeAll(async () => void (server = await serve(flowsServer(generateKey()))));
afterAll(() => server.close());

describe('parley prompt', () => {
  it('gets a prompt that asks', async () => {
    const args = ['prompt', server.url, 'review', 'version=2', '--answers', answers];
    expect(await parley(args)).toMatchObject({ code: 0, out: 'user:\nReview 2, kind.\n' });
  });

  it('prints it as JSON', async () => {
    const args = ['prompt', server.url, 'review', 'version=2', '--answers', answers, '--output', 'json'];
    const { out } = await parley(args);
    expect(JSON.parse(out)).toMatchObject({ messages: [{ role: 'user' }] });
  });

  it.each([
    [['revue'], /has no prompt 'revue'\. Did you mean review\?\nIt has: review/],
    [['review'], /Missing: version\.\nreview takes:\n {2}version, required/],
    [['review', 'v=1'], /no argument 'v'/],
    [['review', 'version:=1'], /is a text/],
    [[], /Name a prompt/],
  ])('%j ends with code 2', async (args, message) => {
    const { code, err } = await parley(['prompt', server.url, ...args]);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });

  it('without an answer ends with code 4', async () => {
    const { code, err } = await parley(['prompt', server.url, 'review', 'version=2']);
    expect(code).toBe(4);
    expect(err).toContain('"tone": Which tone?');
  });
});

describe('parley read', () => {
  it('reads a resource that asks', async () => {
    const args = ['read', server.url, 'releases://notes', '--answers', answers];
    expect(await parley(args)).toMatchObject({ code: 0, out: 'All notes.\n' });
  });

  it.each([[[]], [['a://b', 'c://d']]])('%j ends with code 2', async (args) => {
    const { code, err } = await parley(['read', server.url, ...args]);
    expect({ code, err }).toEqual({ code: 2, err: 'parley: Name one resource, by its URI.\n' });
  });
});
