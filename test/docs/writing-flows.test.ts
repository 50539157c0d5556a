import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Flow } from 'mcp-parley';
import { rehearse, wire } from 'mcp-parley/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { instance, stateOf, textOf } from '../../packages/parley/test/gate/wire-harness.js';
import type { Flows } from '../../packages/parley/src/index.js';
import { load } from './load.js';
import { pages } from './markdown.js';

const ask = async (flow: Flow, key: string): Promise<string> =>
  (await flow.form(key, { message: `${key}?`, schema: z.object({ v: z.string() }) })).v;

const answers = { a: { v: 'A' }, b: { v: 'B' }, go: true };

/** The keys that each round asked. */
async function rounds(handler: (flow: Flow) => Promise<unknown>): Promise<string[][]> {
  const rehearsal = await rehearse(handler, { answers });
  return rehearsal.rounds.map(({ questions }) => questions.map(({ key }) => key));
}

describe('what docs/writing-flows.md says of the wrong code', () => {
  it('a side effect outside of a step happens in each round', async () => {
    let mails = 0;
    await rehearse(
      async (flow: Flow) => {
        mails += 1;
        await flow.confirm('go', 'Go?');
      },
      { answers },
    );
    expect(mails).toBe(2);
  });

  it('a message with the time in it is an error after three rounds; with flow.now() it is answered', async () => {
    let time = 0;
    const { outcome, rounds: seen } = await rehearse((flow: Flow) => flow.confirm('go', `${(time += 1)}?`), {
      answers,
    });
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'question_unstable', rounds: 3 } });
    expect(seen).toHaveLength(4); // asked in three, and given up in the next
    expect(await rounds((flow) => flow.confirm('go', `${flow.now()}?`))).toEqual([['go'], []]);
  });

  it('what a step leaves outside of itself is gone in the next round', async () => {
    const { outcome } = await rehearse(
      async (flow: Flow) => {
        const seen: string[] = [];
        await flow.step('build', () => void seen.push('x'));
        await flow.confirm('go', 'Go?');
        return seen;
      },
      { answers },
    );
    expect(outcome).toEqual({ type: 'completed', value: [] });
  });

  it('finally does not run in a round that asks', async () => {
    let released = 0;
    let acquired = 0;
    await rehearse(
      async (flow: Flow) => {
        acquired += 1;
        try {
          await flow.confirm('go', 'Go?');
        } finally {
          released += 1;
        }
      },
      { answers },
    );
    expect([acquired, released]).toEqual([2, 1]);
  });

  it('a loser of a race goes out again; a timer has no part in it', async () => {
    const { outcome, rounds: seen } = await rehearse(
      async (flow: Flow) => {
        const first = await Promise.race([ask(flow, 'a'), ask(flow, 'b')]);
        await flow.confirm('go', 'Go?');
        return first;
      },
      { answers: { ...answers, a: wire(null) } },
    );
    expect(outcome).toEqual({ type: 'completed', value: 'B' });
    expect(seen.map(({ questions }) => questions.map(({ key }) => key))).toEqual([
      ['a', 'b'],
      ['a', 'go'],
      [],
    ]);
  });

  it('two awaits are two rounds, Promise.all is one; I/O outside of a step costs one and warns', async () => {
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    expect(await rounds(async (flow) => [await ask(flow, 'a'), await ask(flow, 'b')])).toEqual([
      ['a'],
      ['b'],
      [],
    ]);
    expect(await rounds((flow) => Promise.all([ask(flow, 'a'), ask(flow, 'b')]))).toEqual([['a', 'b'], []]);
    expect(
      await rounds((flow) =>
        Promise.all([ask(flow, 'a'), flow.step('io', turns).then(() => ask(flow, 'b'))]),
      ),
    ).toEqual([['a', 'b'], []]);
    const { rounds: seen, warnings } = await rehearse(
      (flow: Flow) => Promise.all([ask(flow, 'a'), turns().then(() => ask(flow, 'b'))]),
      { answers },
    );
    await turns();
    expect(seen.map(({ questions }) => questions.map(({ key }) => key))).toEqual([['a'], ['b'], []]);
    expect(warnings).toHaveLength(1);
  });

  it('flow.id survives a repeated round, and not the loss of the first response', async () => {
    const ids = new Set<string>();
    const handler = async (flow: Flow): Promise<void> => {
      ids.add(flow.id);
      await flow.confirm('go', 'Go?');
    };
    await rehearse(handler, { answers, rounds: { 2: { drop: true }, 3: { repeat: true } } });
    expect(ids.size).toBe(1);
    ids.clear();
    await rehearse(handler, { answers, rounds: { 1: { drop: true } } });
    expect(ids.size).toBe(2);
  });
});

interface Browser {
  readonly user?: { readonly issuer: string; readonly subject: string };
  startOAuth(id: string): Promise<URL>;
  endOAuth(callback: URL): Promise<{ id: string; token: string; login: string }>;
}

type Page = (request: Request, browser: Browser, signIns: object) => Promise<Response>;

describe('the sign-in of docs/writing-flows.md', async () => {
  const page = pages().find(({ file }) => file === 'docs/writing-flows.md');
  const code = page?.blocks.find((block) => block.code.includes('function registerConnect'))?.code ?? '';
  const { registerConnect, connectPage, callbackPage } = (await load('sign-in.ts', code)) as {
    registerConnect: (flows: Flows, signIns: object) => void;
    connectPage: Page;
    callbackPage: Page;
  };

  const user = (sub: string): AuthInfo => ({
    token: 't',
    clientId: 'app',
    scopes: [],
    extra: { iss: 'https://id.example', sub },
  });
  const browserOf = (subject: string, id: string): Browser => ({
    user: { issuer: 'https://id.example', subject },
    startOAuth: async () => new URL('https://forge.example/authorize'),
    endOAuth: async () => ({ id, token: 'forge-token', login: subject }),
  });

  function start(): { signIns: object; server: ReturnType<typeof instance> } {
    const owners = new Map<string, string>();
    const logins = new Map<string, string>();
    const signIns = {
      begin: async (id: string, owner: string) => void owners.set(id, owner),
      ownerOf: async (id: string) => owners.get(id),
      finish: async (id: string, _token: string, login: string) => void logins.set(id, login),
      loginOf: async (id: string) => logins.get(id),
    };
    return { signIns, server: instance((flows) => registerConnect(flows, signIns)) };
  }

  async function linkFor(
    server: ReturnType<typeof instance>,
    sub: string,
  ): Promise<{ state: string; url: URL }> {
    const asked = await server.call('tools/call', 'connect', { auth: user(sub) });
    return {
      state: stateOf(asked),
      url: new URL(String(asked.result?.inputRequests?.['sign-in']?.params['url'])),
    };
  }

  it('connects the account of whoever called the tool', async () => {
    const { signIns, server } = start();
    const { state, url } = await linkFor(server, 'alice');
    const browser = browserOf('alice', url.searchParams.get('id') ?? '');
    expect((await connectPage(new Request(url), browser, signIns)).headers.get('location')).toContain(
      'forge.example',
    );
    expect(
      (await callbackPage(new Request('https://mcp.example.com/callback'), browser, signIns)).status,
    ).toBe(200);
    const answer = {
      requestState: state,
      inputResponses: { 'sign-in': { action: 'accept' } },
      auth: user('alice'),
    };
    const done = await server.call('tools/call', 'connect', answer);
    expect(textOf(done)).toBe('Connected alice.');
    expect(done.text).not.toContain('forge-token');
  });

  it('refuses a link that somebody else made, also with an edited id (URL-16 to URL-18)', async () => {
    const { signIns, server } = start();
    const mallory = await linkFor(server, 'mallory');
    const alice = await linkFor(server, 'alice');
    const id = (url: URL): string => url.searchParams.get('id') ?? '';
    for (const [link, sub] of [
      [mallory.url, 'alice'],
      [alice.url, 'mallory'],
    ] as const) {
      const browser = browserOf(sub, id(link));
      expect((await connectPage(new Request(link), browser, signIns)).status).toBe(403);
      expect(
        (await callbackPage(new Request('https://mcp.example.com/callback'), browser, signIns)).status,
      ).toBe(403);
    }
    expect(alice.url.href).not.toMatch(/alice|example\.com.*id\.example/);
    const nobody = { ...browserOf('x', id(alice.url)), user: undefined } as unknown as Browser;
    expect((await connectPage(new Request(alice.url), nobody, signIns)).status).toBe(303);
  });
});
