import { afterEach, describe, expect, it } from 'vitest';
import { ATTACKS } from '../../src/audit/attacks/index.js';
import { TRANSFER, urlOf } from '../servers/harness/forms.js';
import { startServer } from '../servers/harness.js';
import { startFlows } from '../servers/transfer-flows.js';
import { startSdk } from '../servers/transfer-sdk.js';
import { startStateless } from '../servers/stateless-sdk.js';
import { startSurvey } from '../servers/survey-flows.js';
import { auditTransfer, worstOf } from './auditing.js';

interface Running {
  readonly url: string;
  close(): Promise<void>;
}
let running: Running | undefined;
afterEach(() => running?.close());

const PAGE = urlOf('Sign in, please.', 'https://login.example.com/start?id=5f0c1b9e');

describe('all attacks find nothing above a note in', () => {
  it.each<[string, () => Promise<Running>]>([
    ['a server written by hand', () => startServer()],
    [
      'one that sends the user to a page',
      () => startServer({ questions: [['page', PAGE], ...TRANSFER.slice(2)] }),
    ],
    ['flows that pay once', () => startFlows(false)],
    ['flows with single use', () => startFlows(true)],
    ['flows that ask all there is to ask, some of it at a time', () => startSurvey()],
    ['a tool of the SDK without a state', () => startStateless()],
    ['the SDK, with all bound by hand', () => startSdk({ full: true })],
  ])('%s', async (_name, start) => {
    running = await start();
    expect(worstOf(await auditTransfer(running.url, ATTACKS))).toEqual({});
  });
});

describe('the codec of the SDK', () => {
  it('binds nothing as its documentation begins, and that is found', async () => {
    running = await startSdk({ full: false });
    expect(worstOf(await auditTransfer(running.url, ATTACKS))).toEqual({
      'state-other-user': 'critical',
      'state-anonymous': 'critical',
      'state-other-arguments': 'high',
      'state-other-tool': 'high',
      'replay-in-sequence': 'high',
      'replay-at-once': 'high',
      // The SDK 2.4 copies answers key by key into an object, and `__proto__` with them.
      'answers-polluting': 'medium',
    });
  });
});
