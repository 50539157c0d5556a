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

/** Lets this many turns of the event loop pass, as I/O does. */
async function ioFor(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('what docs/writing-flows.md says cannot be prevented', () => {
  it('a race of I/O outside of a step may be won by another in a later round; with steps it is not', async () => {
    const winners = async (io: (flow: Flow) => Promise<void>): Promise<string[]> => {
      const seen: string[] = [];
      await rehearse(
        async (flow: Flow) => {
          const first = await Promise.race([
            io(flow).then(() => flow.step('a', () => 'a')),
            flow.step('slow', () => ioFor(3)).then(() => flow.step('b', () => 'b')),
          ]);
          seen.push(first);
          await flow.step('both', () => ioFor(20)); // in the first round both get through
          await flow.confirm('go', 'Go?');
        },
        { answers },
      );
      return seen;
    };
    expect(await winners((flow) => ioFor(flow.round === 1 ? 0 : 20))).toEqual(['a', 'b']);
    expect(await winners((flow) => flow.step('io', () => ioFor(0)))).toEqual(['a', 'a']);
  });

  it('a draw after I/O outside of a step, beside another branch, may give another value in a later round', async () => {
    const ids = async (io: (flow: Flow) => Promise<void>): Promise<number> => {
      const seen = new Set<string>();
      await rehearse(
        async (flow: Flow) => {
          const [id] = await Promise.all([io(flow).then(() => flow.uuid()), flow.step('b', () => ioFor(3))]);
          seen.add(id);
          await flow.confirm('go', 'Go?');
        },
        { answers },
      );
      return seen.size;
    };
    expect(await ids((flow) => ioFor(flow.round === 1 ? 0 : 20))).toBe(2);
    expect(await ids((flow) => flow.step('io', () => ioFor(0)))).toBe(1);
  });

  it('a question inside a step, after an await, never goes out', async () => {
    const ended = rehearse(
      (flow: Flow) =>
        flow.step('deploy', async () => {
          await ioFor(1);
          return await flow.confirm('go', 'Go?');
        }),
      { answers },
    ).then(() => 'ended');
    expect(await Promise.race([ended, ioFor(50)])).toBeUndefined();
  });

  it('a step computed from an answer that is asked again stays, unless its key names the answer', async () => {
    const told = async (key: (region: string) => string): Promise<unknown> => {
      let message = 'Which region?';
      const { outcome } = await rehearse(
        async (flow: Flow) => {
          if (flow.round === 3) message = 'Which region, now?'; // a deploy
          const { v } = await flow.form('region', { message, schema: z.object({ v: z.string() }) });
          const price = await flow.step(key(v), () => `price in ${v}`);
          await flow.confirm('go', `${price}?`);
          return price;
        },
        {
          answers: ({ key: asked, question }, round) =>
            asked === 'go'
              ? round < 4
                ? wire(null)
                : true
              : { v: question.params['message'] === 'Which region?' ? 'eu' : 'us' },
        },
      );
      return outcome;
    };
    expect(await told(() => 'price')).toEqual({ type: 'completed', value: 'price in eu' });
    expect(await told((region) => `price ${region}`)).toEqual({ type: 'completed', value: 'price in us' });
  });
});

describe('what docs/writing-flows.md says of draws', () => {
  it('they fall with the answer after which they were drawn, and no others do', async () => {
    const seen: Record<string, string[]> = { before: [], after: [] };
    let message = 'a?';
    await rehearse(
      async (flow: Flow) => {
        if (flow.round === 3) message = 'a, now?'; // a deploy
        seen['before']?.push(flow.uuid());
        await flow.form('a', { message, schema: z.object({ v: z.string() }) });
        seen['after']?.push(flow.uuid());
        await flow.confirm('go', 'Go?');
      },
      { answers: ({ key }, round) => (key === 'go' ? (round < 4 ? wire(null) : true) : { v: 'A' }) },
    );
    expect(new Set(seen['before']).size).toBe(1);
    expect(new Set(seen['after']).size).toBe(2);
  });

  it('a call of the flow in the synchronous part of a step is refused, and the step fails with it', async () => {
    for (const call of [
      (flow: Flow) => flow.now(),
      (flow: Flow) => flow.random(),
      (flow: Flow) => flow.uuid(),
      (flow: Flow) => flow.use(() => 1),
      (flow: Flow) => flow.confirm('go', 'Go?'),
    ]) {
      const { outcome } = await rehearse((flow: Flow) => flow.step<unknown>('s', () => call(flow)), {
        answers,
      });
      expect(outcome).toMatchObject({
        type: 'failed',
        error: { code: 'step_failed', reasonName: 'NestedCall', cause: { code: 'nested_call', step: 's' } },
      });
    }
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
