/** One flow, as its client sees it: first request, two answers, and an end. */
import { makeCall, type Call, type CallParts, type Client, type Outcome, type ToolResult } from './client.js';
import type { Random } from './random.js';
import type { Report } from './report.js';
import type { Timeline } from './timeline.js';
import { confirmation, type Endpoint, type RedeemArguments, type Redemption } from './wire.js';

/** How often a round is answered in two ways at the same instant. */
const RACE = 0.04;

/** A flow to be run. */
export interface FlowPlan {
  readonly label: string;
  readonly endpoint: Endpoint;
  readonly bearer: string;
  readonly arguments: RedeemArguments;
}

/** How a flow ended. */
export type FlowEnd =
  | { readonly type: 'ended'; readonly redemption: Redemption }
  /** `flow.once` says that nobody knows whether it was done. */
  | { readonly type: 'unknown'; readonly key: 'redeem' | 'mail' }
  /** The work itself failed: its database went away in the midst of it, and that was recorded. */
  | { readonly type: 'workFailed'; readonly text: string }
  /** Its state was sealed under a key that was dropped meanwhile. */
  | { readonly type: 'restarted' }
  | { readonly type: 'failed'; readonly text: string };

/** A round that was answered, for those who present it again. */
export interface AnsweredRound {
  readonly parts: CallParts;
  readonly call: Call;
  readonly text: string;
  /** When its state was received, in ms since 1970: it was sealed before. */
  readonly stateAt: number;
}

/** What a client has to say of a flow. Times in ms since 1970. */
export interface FlowReport extends FlowPlan {
  readonly from: number;
  readonly to: number;
  /** What the flow must give back; undefined when it did not come so far. */
  readonly note: string | undefined;
  readonly ticket: string | undefined;
  readonly end: FlowEnd;
  readonly rounds: readonly AnsweredRound[];
}

/** What a flow is run with. */
export interface FlowTools {
  readonly client: Client;
  readonly random: Random;
  readonly report: Report;
  readonly timeline: Timeline;
}

/** The end of a flow, thrown from wherever it is met. */
class Ended extends Error {
  readonly end: FlowEnd;
  constructor(end: FlowEnd) {
    super(end.type);
    this.end = end;
  }
}

/** Runs a flow to its end, whatever that is. */
export async function runFlow(plan: FlowPlan, tools: FlowTools): Promise<FlowReport> {
  const from = Date.now();
  const run = new FlowRun(plan, tools, from);
  const end = await run.toItsEnd().catch((error: unknown) => {
    if (error instanceof Ended) return error.end;
    throw error;
  });
  const { note, ticket, rounds } = run;
  return { ...plan, from, to: Date.now(), note, ticket, rounds, end };
}

class FlowRun {
  note: string | undefined;
  ticket: string | undefined;
  readonly rounds: AnsweredRound[] = [];
  readonly #plan: FlowPlan;
  readonly #tools: FlowTools;
  readonly #from: number;

  constructor(plan: FlowPlan, tools: FlowTools, from: number) {
    this.#plan = plan;
    this.#tools = tools;
    this.#from = from;
  }

  async toItsEnd(): Promise<FlowEnd> {
    const first = this.#asks(await this.#exchange({ ...this.#plan, label: `${this.#plan.label}/1` }), 'note');
    const second = this.#asks(await this.#answerNote(first.requestState), 'sure');
    this.ticket = ticketIn(second.message);
    if (this.ticket === undefined) throw this.#failed(`asked something else: ${second.message}`);
    const sure = { sure: { action: 'accept', content: { confirm: true } } };
    const third = await this.#exchange(this.#next(3, second.requestState, sure));
    const [content] = third.content ?? [];
    if (third.resultType === 'input_required' || content === undefined) throw this.#failed('did not end');
    return { type: 'ended', redemption: JSON.parse(content.text) as Redemption };
  }

  /** The second round: answered in one way, or in two at once, of which one must count. */
  async #answerNote(requestState: string): Promise<ToolResult> {
    const { random, client, report, timeline } = this.#tools;
    const { label } = this.#plan;
    const answer = (note: string): CallParts => {
      return this.#next(2, requestState, { note: { action: 'accept', content: { note } } }, note);
    };
    this.note = `note of ${label}`;
    if (!random.chance(RACE)) return await this.#exchange(answer(this.note));
    report.fault('race');
    const notes = [this.note, `other note of ${label}`];
    const stateAt = Date.now();
    const outcomes = await Promise.all(
      notes.map(async (note) => {
        const parts = answer(note);
        const call = makeCall(parts);
        return { note, parts, call, outcome: await client.exchange(call) };
      }),
    );
    const [taken, ...more] = outcomes.filter(({ outcome }) => outcome.type === 'result');
    if (more.length > 0) report.violation(`${label}: two answers to one round were both taken`);
    if (taken === undefined || taken.outcome.type !== 'result') {
      const dropped = timeline.between(this.#from, Date.now(), 'keys-dropped').length > 0;
      if (dropped) throw new Ended({ type: 'restarted' });
      throw this.#failed(
        `none of two answers to one round was taken: ${outcomes.map(({ outcome }) => outcome.type).join()}`,
      );
    }
    const { note, parts, call, outcome } = taken;
    this.note = note;
    this.rounds.push({ parts, call, text: outcome.text, stateAt });
    return this.#unlessError(outcome.result);
  }

  #next(
    round: number,
    requestState: string,
    inputResponses: Readonly<Record<string, unknown>>,
    variant = '',
  ): CallParts {
    const label = `${this.#plan.label}/${round}${variant.startsWith('other') ? 'b' : ''}`;
    return { ...this.#plan, label, requestState, inputResponses };
  }

  async #exchange(parts: CallParts): Promise<ToolResult> {
    const stateAt = Date.now();
    const call = makeCall(parts);
    const outcome: Outcome = await this.#tools.client.exchange(call);
    switch (outcome.type) {
      case 'result':
        if (parts.requestState !== undefined) this.rounds.push({ parts, call, text: outcome.text, stateAt });
        return this.#unlessError(outcome.result);
      case 'rejected':
        if (this.#tools.timeline.between(this.#from, Date.now(), 'keys-dropped').length > 0) {
          throw new Ended({ type: 'restarted' });
        }
        throw this.#failed(`the state of round ${parts.label} was rejected`);
      case 'stuck':
        throw this.#failed(`round ${parts.label} came to no end (last: ${outcome.last})`);
      case 'unexpected':
        throw this.#failed(outcome.text);
    }
  }

  /** A tool error ends the flow. */
  #unlessError(result: ToolResult): ToolResult {
    if (result.isError !== true) return result;
    const text = result.content?.[0]?.text ?? '';
    const [, key] = /^Whether '(redeem|mail)' was done is not known/.exec(text) ?? [];
    if (key === 'redeem' || key === 'mail') throw new Ended({ type: 'unknown', key });
    if (text.startsWith(`Step 'redeem' failed`)) throw new Ended({ type: 'workFailed', text });
    throw this.#failed(`a tool error: ${text}`);
  }

  #asks(
    { requestState, inputRequests }: ToolResult,
    key: string,
  ): { readonly requestState: string; readonly message: string } {
    const question = inputRequests?.[key];
    if (requestState === undefined || question === undefined) throw this.#failed(`did not ask '${key}'`);
    return { requestState, message: question.params.message };
  }

  #failed(text: string): Ended {
    this.#tools.report.violation(`${this.#plan.label}: ${text}`);
    return new Ended({ type: 'failed', text });
  }
}

/** The ticket that a question names. */
function ticketIn(message: string): string | undefined {
  const [before = '', after = ''] = confirmation('\0').split('\0');
  if (!message.startsWith(before) || !message.endsWith(after)) return undefined;
  return message.slice(before.length, message.length - after.length);
}
