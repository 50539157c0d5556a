import { UrlElicitationRequiredError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { drive, type DriveOptions, type Handlers, type UrlQuestion } from '../../src/client/index.js';
import { CALL, failureOf, optionsWith } from './harness.js';
import { connect2025, TEXT } from './legacy-harness.js';

/** A page, as servers of 2025-11-25 name it in their error -32042. */
const page = (url: string, more: object = {}) => ({
  mode: 'url',
  message: 'Sign in there.',
  url,
  elicitationId: 'e1',
  ...more,
});

/** A server that wants pages to be opened before it takes a call up, `times` times. */
async function requiring(times: number, pages: readonly object[] = [page('https://id.example/1')]) {
  let calls = 0;
  const { client } = await connect2025(
    (mcp) => {
      mcp.registerTool('t', {}, () => {
        calls += 1;
        if (calls <= times) throw new UrlElicitationRequiredError(pages as never);
        return { content: [{ type: 'text', text: `call ${calls}` }] };
      });
    },
    { elicitation: { form: {}, url: {} } },
  );
  return { client, calls: () => calls };
}

/** A person who says yes, or what is given. */
function person(action: 'accept' | 'decline' = 'accept') {
  const asked: UrlQuestion[] = [];
  const handlers: Handlers = {
    form: () => ({ action: 'cancel' }),
    url: (question) => {
      asked.push(question);
      return { action };
    },
  };
  return { asked, handlers };
}

describe('an error of 2025-11-25 that wants pages to be opened first (-32042)', () => {
  const withHandlers = (handlers: Handlers, options: Partial<DriveOptions> = {}) =>
    optionsWith({ handlers, ...options });

  it('is asked like other URLs, and the call is made again after the yes', async () => {
    const { client, calls } = await requiring(1, [
      page('https://id.example/1'),
      page('https://id.example/2'),
    ]);
    const { asked, handlers } = person();
    const result = await drive(client, CALL, withHandlers(handlers));
    expect(result.content).toMatchObject([{ text: 'call 2' }]);
    expect(calls()).toBe(2);
    expect(asked).toMatchObject([
      { kind: 'url', message: 'Sign in there.', url: 'https://id.example/1', host: 'id.example' },
      { kind: 'url', url: 'https://id.example/2' },
    ]);
  });

  it('is asked again, each time that the server wants it (URL-10), until it goes nowhere', async () => {
    const twice = await requiring(2);
    const patient = person();
    await drive(twice.client, CALL, withHandlers(patient.handlers));
    expect(patient.asked).toHaveLength(2);

    const ever = await requiring(Infinity);
    const { asked, handlers } = person();
    const failure = await failureOf(drive(ever.client, CALL, withHandlers(handlers)));
    expect(failure).toMatchObject({ code: 'going_nowhere', times: 3 });
    expect(asked).toHaveLength(2);
  });

  it('ends the call when the person says no, as nothing can be told to the server', async () => {
    const { client, calls } = await requiring(1);
    const failure = await failureOf(drive(client, CALL, withHandlers(person('decline').handlers)));
    expect(failure).toMatchObject({ code: 'unanswered' });
    expect(failure.cause).toBeInstanceOf(UrlElicitationRequiredError);
    expect(calls()).toBe(1);
  });

  it('counts as a round, and beforeRetry sees it', async () => {
    const { client, calls } = await requiring(1);
    const { asked, handlers } = person();
    const one = withHandlers(handlers, { policy: { maxRounds: 1 } });
    expect(await failureOf(drive(client, CALL, one))).toMatchObject({ bound: 'maxRounds' });
    expect(asked).toHaveLength(0);
    const stopping = withHandlers(handlers, { policy: { beforeRetry: () => 'stop' } });
    const again = await requiring(1);
    expect(await failureOf(drive(again.client, CALL, stopping))).toMatchObject({ code: 'call_stopped' });
    expect([calls(), again.calls()]).toEqual([1, 1]);
  });

  it.each([
    ['a URL that must not be opened', [page('javascript:alert(1)')], 'unsafe_url'],
    ['a form', [{ mode: 'form', message: 'x', requestedSchema: TEXT }], 'invalid_response'],
    ['something else than a question', ['x'], 'invalid_response'],
    ['too many pages', Array.from({ length: 17 }, () => page('https://id.example/')), 'drive_limit'],
  ])('is not followed to %s', async (_, pages, code) => {
    const { client, calls } = await requiring(1, pages as object[]);
    const { asked, handlers } = person();
    expect(await failureOf(drive(client, CALL, withHandlers(handlers)))).toMatchObject({ code });
    expect([calls(), asked.length]).toEqual([1, 0]);
  });

  it.each([
    ['that names no page', [], person().handlers],
    ['for hosts that answer no URLs', [page('https://id.example/')], {}],
  ])('%s is the error of the client', async (_, pages, handlers) => {
    const { client } = await requiring(1, pages);
    expect(await failureOf(drive(client, CALL, withHandlers(handlers)))).toMatchObject({ code: -32_042 });
  });
});
