import { afterEach, describe, expect, it } from 'vitest';
import { ATTACKS } from '../../src/audit/attacks/index.js';
import { TRANSFER, urlOf } from '../servers/harness/forms.js';
import { startServer } from '../servers/harness.js';
import { correctParts } from '../servers/harness/parts.js';
import { startFlows } from '../servers/transfer-flows.js';
import { startSdk } from '../servers/transfer-sdk.js';
import { startStateless } from '../servers/stateless-sdk.js';
import { startSurvey } from '../servers/survey-flows.js';
import { startUnusual, UNUSUAL_FLOWS } from '../servers/unusual-flows.js';
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

describe('all attacks find nothing above a note in a flow that asks for', () => {
  it.each(Object.keys(UNUSUAL_FLOWS) as (keyof typeof UNUSUAL_FLOWS)[])('%s', async (name) => {
    running = await startUnusual(name);
    expect(worstOf(await auditTransfer(running.url, ON_ANSWERS))).toEqual({});
  });
});

describe('all attacks find nothing above a note in a server that', () => {
  it.each<[string, Faults]>([
    [
      'answers a bad state as an error of the tool',
      { onBadState: () => ({ result: { content: [], isError: true } }) },
    ],
    [
      'answers 401 to nobody, as OAuth has it',
      { checkHeaders: (request) => (request.user === null ? { status: 401 } : headersOf(request)) },
    ],
    ['has too many requests now and then', { checkHeaders: throttled() }],
  ])('%s', async (_name, faults) => {
    running = await startServer(faults);
    const found = worstOf(await auditTransfer(running.url, FEW));
    expect(found).toEqual({});
  });
});

/** Those whose judgement hangs on what is asked, and in which round. */
const ON_ANSWERS = ATTACKS.filter(({ id }) =>
  /^(?:answers-|declined|step-|state-(?:stripped|only|other))/.test(id),
);

type Faults = NonNullable<Parameters<typeof startServer>[0]>;

const { checkHeaders: headersOf } = correctParts();

/** Those whose judgement hangs on refusals. */
const FEW = ATTACKS.filter(({ id }) =>
  ['state-anonymous', 'state-kind', 'state-only-retry', 'refusal-tells', 'meta-on-retry'].includes(id),
);

/** Has no time for one request in ten, and says when it will. */
function throttled(): Faults['checkHeaders'] {
  let nth = 0;
  return (request) => {
    nth += 1;
    return nth % 10 === 9 ? { status: 429, retryAfter: 0 } : headersOf(request);
  };
}

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
