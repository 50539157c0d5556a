import {
  DEFAULT_FLOW_LIMITS,
  runFlow,
  runtimeScheduler,
  type Flow,
  type FlowLimits,
  type RunHost,
  type RunInput,
  type RunOutcome,
} from '../../src/flow/index.js';

export interface TestHost extends RunHost {
  readonly warnings: string[];
}

/** A host whose clock stands still and whose sources count. */
export function testHost(overrides: Partial<RunHost> = {}): TestHost {
  let drawn = 0;
  const warnings: string[] = [];
  return {
    now: () => 1_000,
    random: () => (drawn += 1) / 1_000,
    uuid: () => `uuid-${(drawn += 1)}`,
    digest: (text) => text,
    scheduler: runtimeScheduler,
    warn: (message) => void warnings.push(message),
    warnings,
    ...overrides,
  };
}

export type TestInput = Partial<Omit<RunInput<undefined>, 'limits'>> & {
  readonly limits?: Partial<FlowLimits>;
};

/** Runs one round of a handler; what is not given is as in a first round without answers. */
export function runRound<T>(
  handler: (flow: Flow<undefined>) => T | Promise<T>,
  input: TestInput = {},
): Promise<RunOutcome<T>> {
  return runFlow<undefined, T>(handler, {
    id: () => 'flow',
    round: 1,
    waits: 0,
    journal: [],
    asked: undefined,
    answers: undefined,
    client: {
      elicitation: { form: true, url: true },
      sampling: { messages: true, tools: true },
      roots: true,
      extensions: new Set(),
    },
    ctx: undefined,
    host: testHost(),
    ...input,
    limits: { ...DEFAULT_FLOW_LIMITS, ...input.limits },
  });
}

type Suspended = Extract<RunOutcome<never>, { type: 'suspended' }>;

/** The round that a suspended one leads to, with these answers. */
export function nextRound(before: RunOutcome<unknown>, answers: unknown = {}): TestInput {
  const { asked, journal } = suspended(before);
  return { round: 2, asked, journal, answers };
}

export function suspended(outcome: RunOutcome<unknown>): Suspended {
  if (outcome.type !== 'suspended') throw new Error(`not suspended but ${outcome.type}`, { cause: outcome });
  return outcome;
}

export function keysOf(outcome: RunOutcome<unknown>): string[] {
  return suspended(outcome).questions.map(({ key }) => key);
}

/** Lets this many turns of the event loop pass: real I/O, without waiting for a clock. */
export async function turns(count = 1): Promise<void> {
  for (let index = 0; index < count; index += 1) await new Promise((resolve) => void setImmediate(resolve));
}

/** A form with one text field. */
export const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;

/** Asks for one text. */
export async function askText(
  flow: Flow<undefined> | Flow,
  key: string,
  message: string = key,
): Promise<string> {
  return (await flow.form(key, { message, schema: TEXT })).text;
}

/** An accepted form, as it comes from the wire. */
export const accept = (content: unknown): unknown => ({ action: 'accept', content });
