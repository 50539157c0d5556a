import {
  acceptedContent,
  createRequestStateCodec,
  type InputResponses,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { TokenCarrier } from '../../packages/parley/dist/carrier/index.js';
import { randomBytes } from '../../packages/parley/dist/seal/index.js';
import { bindText, newCarrier } from '../fixtures/parts.js';
import { ANSWERS, BUILD, NOTE, PLAN, releaseFlow } from '../fixtures/release-flow.js';
import { playRound } from '../fixtures/rounds.js';
import type { Operation, Row } from '../harness/row.js';

/** The state in which five entries are recorded and the fourth form waits for its answer. */
async function stateBefore(carrier: TokenCarrier): Promise<string> {
  let token = await playRound(carrier, releaseFlow, undefined, undefined);
  for (const key of ['where', 'when', 'who'] as const)
    token = await playRound(carrier, releaseFlow, token, { [key]: ANSWERS[key] });
  return token;
}

interface HandState {
  readonly build: typeof BUILD;
  readonly plan: typeof PLAN;
  readonly region: unknown;
  readonly when: unknown;
  readonly approver: unknown;
  readonly note?: unknown;
}

/** The same round of the same flow as a state machine: what an author writes by hand with the SDK. */
async function byHand(): Promise<Operation> {
  const codec = createRequestStateCodec<HandState>({ key: randomBytes(32), bind: bindText });
  const ctx = {} as ServerContext; // only handed on to `bind`
  const when = ANSWERS.when.content;
  const token = await codec.mint(
    { build: BUILD, plan: PLAN, region: 'eu', when, approver: 'ada@example.com' },
    ctx,
  );
  const inputResponses = { note: ANSWERS.note } as unknown as InputResponses;
  return async () => {
    const state = await codec.verify(token, ctx);
    const note = acceptedContent(inputResponses, 'note')?.['note'];
    if (typeof note !== 'string' || note.length > NOTE.properties.note.maxLength)
      throw new Error('There is no note.');
    const requestState = await codec.mint({ ...state, note }, ctx);
    const message = `Release ${state.build.id} to ${String(state.region)}?`;
    return { inputRequests: { go: { method: 'elicitation/create', params: { message } } }, requestState };
  };
}

export default {
  title: 'One round of the engine: open, replay 5 entries, take an answer, suspend on a question, seal',
  leavesOut: 'the transport and the SDK around it; the flow has 2 steps and 3 answers on record',
  async measure(bench) {
    const scenario = 'a round in the middle of a flow';
    const carrier = newCarrier();
    const token = await stateBefore(carrier);
    const answers = { note: ANSWERS.note };
    const found = await bench.compare(scenario, {
      parley: () => playRound(carrier, releaseFlow, token, answers),
      'by hand, SDK codec with bind': await byHand(),
    });
    bench.judge(scenario, 'a round takes', found.time(), { atMost: 120, unit: 'µs' });
  },
} satisfies Row;
