import { Client } from '@modelcontextprotocol/client';
import {
  DriveLimit,
  GoingNowhere,
  InvalidResponse,
  FlowNotSaved,
  RetryNotTaken,
  RetryUnknown,
  SavedFlowOutdated,
  TaskGone,
  TaskUnreachable,
  Unanswered,
  UnsafeUrl,
  type SavedFlow,
} from 'mcp-parley/client';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../src/connect/connection.js';
import { explainCall, type CallContext } from '../src/explain-call.js';
import { Signalled } from '../src/outcome.js';
import { StatusLine } from '../src/status-line.js';
import { Interrupted } from '../src/terminal/index.js';

const URL_OF_SERVER = 'https://a.example/mcp';

const FLOW: SavedFlow = {
  format: 'parley-flow',
  version: 1,
  server: { url: URL_OF_SERVER, principal: null },
  request: { method: 'tools/call', params: { name: 't' } },
  round: 1,
  waits: 0,
  requestState: 'a-state',
  questions: [],
  repeats: { digest: '', times: 0 },
  id: 'x',
  revision: 1,
  beganAt: 0,
  askedAt: 0,
};

function connection(signal = new AbortController().signal): Connection {
  return {
    client: new Client({ name: 'test', version: '1' }),
    target: { type: 'http', url: URL_OF_SERVER },
    identity: { url: URL_OF_SERVER },
    name: URL_OF_SERVER,
    signal,
    request: { signal, timeout: 1000 },
    status: new StatusLine(() => undefined, undefined),
    reasonOf: () => 'it broke.',
  };
}

function explained(error: unknown, context: Partial<CallContext> = {}): { code: number; text: string } {
  const { exitCode, message } = explainCall(error, { connection: connection(), ...context });
  return { code: exitCode, text: message };
}

const SAVED: CallContext['saved'] = {
  path: 'flow.json',
  flow: FLOW,
  resumeWith: (...options) => ['parley resume flow.json', ...options].join(' '),
};

describe('what a call ended with', () => {
  it.each<[string, unknown, number, string]>([
    [
      'a second Ctrl-C at the terminal',
      new Unanswered('q', FLOW, { cause: new Interrupted() }),
      130,
      'Stopped.\nThe call is kept in flow.json. Go on with\n  parley resume flow.json',
    ],
    [
      'a handler that failed',
      new Unanswered('q', FLOW, { cause: new Error('x') }),
      1,
      `${URL_OF_SERVER}: The question "q" was not answered, so the call was not continued. (it broke.)\n` +
        'The call is kept in flow.json. Go on with\n  parley resume flow.json',
    ],
    ['a task that is gone', new TaskGone('expired'), 5, 'The server dropped the task'],
    [
      'a task that is out of sight',
      new TaskUnreachable(8, FLOW),
      5,
      'and may still be running.\nThe call is kept in',
    ],
    ['the deadline', new DriveLimit('deadlineMs', 90_000, FLOW), 1, '(--deadline: 90 s)'],
    [
      'a first request without an answer',
      new DriveLimit('timeout', 60_000),
      1,
      'took the call up is not known.',
    ],
    [
      'a retry that was turned away',
      new RetryNotTaken(2, FLOW, { cause: new Error('x') }),
      1,
      'it broke. Round 2 was not taken up.\nThe call is kept in flow.json. Go on with\n  parley resume flow.json',
    ],
    [
      'a file that was changed',
      new FlowNotSaved(1, FLOW, { cause: new SavedFlowOutdated('another call') }),
      1,
      'flow.json was changed by somebody else meanwhile.',
    ],
    ['too many questions', new DriveLimit('maxQuestions', 16, FLOW), 1, '(maxQuestions: 16)'],
    ['a loop', new GoingNowhere(['a\u001b'], 3, FLOW), 1, String.raw`("a\u001b", 3 times)`],
    ['a retry without an answer', new RetryUnknown(2, FLOW), 5, 'parley resume flow.json --resend'],
    [
      'something unexpected',
      new Error('x'),
      1,
      'it broke. Whether the server took the call up is not known.',
    ],
  ])('%s', (_, error, code, text) => {
    const result = explained(error, { saved: SAVED });
    expect(result.code).toBe(code);
    expect(result.text).toContain(text);
    expect(result.text).not.toContain('a-state');
  });

  it.each([new InvalidResponse('it is odd'), new UnsafeUrl('q')])(
    '%s, on a connection that is gone',
    (error) => {
      expect(explained(error)).toMatchObject({ code: 1 });
    },
  );

  it('a signal, with and without a retry under way', () => {
    const stop = new AbortController();
    stop.abort(new Signalled('SIGTERM'));
    const context = { connection: connection(stop.signal), saved: SAVED };
    expect(explained(new Error('x'), context)).toEqual({
      code: 143,
      text: 'Stopped.\nThe call is kept in flow.json. Go on with\n  parley resume flow.json',
    });
    const { code, text } = explained(new RetryUnknown(2, FLOW), context);
    expect(code).toBe(143);
    expect(text).toContain('whether it took effect is not known.\nLook at the thing itself.');
  });

  it('of a call that is not saved says nothing of a file', () => {
    expect(explained(new RetryUnknown(2, FLOW)).text).toContain('before you call again.');
    expect(explained(new DriveLimit('maxRounds', 1, FLOW)).text).not.toContain('kept');
  });
});
