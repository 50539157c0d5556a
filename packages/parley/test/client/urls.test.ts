import { describe, expect, it, vi } from 'vitest';
import { drive, type AskContext, type UrlQuestion } from '../../src/client/index.js';
import { CALL, done, failureOf, interim, optionsWith, scripted } from './harness.js';
import { cleanUp } from './legacy-harness.js';
import { listen } from './servers/listen.js';

const page = (url: string) => ({
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Sign in there.', url },
});

/** A server that wants a page to be opened in each of `rounds` rounds, and then is done. */
const wanting = (url: string, rounds: number) =>
  scripted((_request, nth) =>
    nth > rounds ? done() : interim({ inputRequests: { q: page(url) }, requestState: `s${nth}` }),
  );

describe('a URL', () => {
  it('is not touched by the library: not before the yes, and not after it (URL-09)', async () => {
    let hits = 0;
    const target = await listen((_request, response) => {
      hits += 1;
      response.end();
    });
    cleanUp(() => target.close());
    const fetched: unknown[] = [];
    vi.stubGlobal('fetch', (url: unknown) => {
      fetched.push(url);
      return Promise.reject(new Error('nothing is fetched'));
    });
    cleanUp(() => vi.unstubAllGlobals());
    const { client, sent } = await wanting(target.url, 1);
    await drive(client, CALL, optionsWith({ handlers: { url: () => ({ action: 'accept' }) } }));
    expect(sent[1]?.params.inputResponses).toEqual({ q: { action: 'accept' } });
    expect([hits, fetched]).toEqual([0, []]);
  });

  it('that is asked for again is put to the person again (URL-10)', async () => {
    const { client, sent } = await wanting('https://id.example/', 2);
    const asked: UrlQuestion[] = [];
    const url = (question: UrlQuestion) => {
      asked.push(question);
      return { action: 'accept' } as const;
    };
    await drive(client, CALL, optionsWith({ handlers: { url } }));
    expect(asked.map((question) => question.url)).toEqual(['https://id.example/', 'https://id.example/']);
    expect(sent).toHaveLength(3);
  });

  it('that nobody says yes to is not answered with a yes (URL-10)', async () => {
    const unheard = await wanting('https://id.example/', 1);
    expect(await failureOf(drive(unheard.client, CALL, optionsWith()))).toMatchObject({
      code: 'invalid_response',
    });
    expect(unheard.sent).toHaveLength(1);
  });

  it('can be tried again by the person, and given up (URL-05)', async () => {
    const { client, sent } = await wanting('https://id.example/', 2);
    let times = 0;
    const url = () => ({ action: (times += 1) === 1 ? 'accept' : 'cancel' }) as const;
    await drive(client, CALL, optionsWith({ handlers: { url } }));
    expect(sent.map(({ params }) => params.inputResponses)).toEqual([
      undefined,
      { q: { action: 'accept' } },
      { q: { action: 'cancel' } },
    ]);
  });

  it('and the call with it, while the person is away: nothing is sent (URL-05)', async () => {
    const { client, sent } = await wanting('https://id.example/', 1);
    const controller = new AbortController();
    const url = (_: UrlQuestion, { signal }: AskContext): Promise<never> => {
      setImmediate(() => controller.abort());
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('gone')));
      });
    };
    const options = optionsWith({ handlers: { url }, signal: controller.signal });
    expect(await failureOf(drive(client, CALL, options))).toMatchObject({ code: 'call_stopped' });
    expect(sent).toHaveLength(1);
  });
});
