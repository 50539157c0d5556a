import * as fc from 'fast-check';
import type { Flow } from '../../src/flow/index.js';

/*
 * Random flow programs for the property tests: a small syntax tree, and a compiler to a handler.
 *
 * Everything that a program does is a function of the position of its nodes, which is also the key of what is
 * recorded. Real I/O is `setImmediate`, whose order Node guarantees, so that who is first is no matter of luck.
 */

/** How long a step takes: no time, some microtasks, or turns of the event loop. */
export type Duration =
  | { readonly in: 'sync' }
  | { readonly in: 'microtasks'; readonly count: number }
  | { readonly in: 'turns'; readonly count: number };

export type Program =
  | { readonly type: 'step'; readonly duration: Duration; readonly fails: boolean }
  | { readonly type: 'ask'; readonly kind: 'form' | 'elicit' | 'confirm' | 'url' }
  | { readonly type: 'source'; readonly of: 'now' | 'random' | 'uuid' }
  | { readonly type: 'detach' }
  | { readonly type: 'microtasks' | 'turns'; readonly count: number }
  | { readonly type: 'sequence' | 'all' | 'race'; readonly parts: readonly Program[] }
  | { readonly type: 'branch'; readonly on: Program; readonly then: Program; readonly otherwise: Program }
  | { readonly type: 'catch' | 'finally'; readonly body: Program };

const duration: fc.Arbitrary<Duration> = fc.oneof(
  fc.constant<Duration>({ in: 'sync' }),
  fc.record({ in: fc.constant('microtasks' as const), count: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ in: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 4 }) }),
);

/** What may occur in a program. */
export interface Features {
  readonly races?: boolean;
  /** Steps that fail. */
  readonly failures?: boolean;
  /** Real I/O outside of steps. */
  readonly turns?: boolean;
  /** Places from which the flow goes on as a task. */
  readonly detach?: boolean;
}

/** Programs; one without races and failures has a value that does not depend on what came first. */
export function programs({
  races = false,
  failures = false,
  turns = false,
  detach = false,
}: Features): fc.Arbitrary<Program> {
  const { program } = fc.letrec<{ program: Program; parts: Program[] }>((tie) => ({
    parts: fc.array(tie('program'), { minLength: 1, maxLength: 4 }),
    program: fc.oneof(
      { maxDepth: 5, depthSize: 'large', withCrossShrink: true },
      {
        weight: 4,
        arbitrary: fc.record({
          type: fc.constant('ask' as const),
          kind: fc.constantFrom('form', 'elicit', 'confirm', 'url'),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          type: fc.constant('step' as const),
          duration,
          fails: failures ? fc.integer({ min: 0, max: 6 }).map((draw) => draw === 6) : fc.constant(false),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constant('source' as const),
          of: fc.constantFrom('now', 'random', 'uuid'),
        }),
      },
      { weight: detach ? 3 : 0, arbitrary: fc.constant({ type: 'detach' as const }) },
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constant('microtasks' as const),
          count: fc.integer({ min: 1, max: 9 }),
        }),
      },
      {
        weight: turns ? 3 : 0,
        arbitrary: fc.record({ type: fc.constant('turns' as const), count: fc.integer({ min: 1, max: 4 }) }),
      },
      {
        weight: 6,
        arbitrary: fc.record({
          type: fc.constantFrom('sequence' as const, 'all' as const),
          parts: tie('parts'),
        }),
      },
      {
        weight: races ? 4 : 0,
        arbitrary: fc.record({
          type: fc.constant('race' as const),
          parts: fc.tuple(tie('program'), tie('program')),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          type: fc.constant('branch' as const),
          on: tie('program'),
          then: tie('program'),
          otherwise: tie('program'),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          type: fc.constantFrom('catch' as const, 'finally' as const),
          body: tie('program'),
        }),
      },
    ),
  }));
  // Several parts, most of which the flow survives: a program that fails in its first round proves little.
  const survived = program.map((body): Program => ({ type: 'catch', body }));
  return fc
    .array(fc.oneof({ weight: 4, arbitrary: survived }, { weight: 1, arbitrary: program }), {
      minLength: 2,
      maxLength: 6,
    })
    .map((parts) => ({ type: 'sequence', parts }));
}

/** What a program did, over all of its rounds. */
export class Trace {
  /** How often each step ran. */
  readonly steps = new Map<string, number>();
  /** Blocks that ran while what they wait for was suspended. */
  readonly faults: string[] = [];
  /** Times and numbers that were another in a later round. */
  readonly changedSources: string[] = [];
  readonly #sources = new Map<string, number | string>();

  ran(key: string): void {
    this.steps.set(key, (this.steps.get(key) ?? 0) + 1);
  }

  /** Notes that the handler got what it waited for. */
  settled(_key: string): void {}

  /** Notes the value that a source gave; each round must see the same. */
  drew(key: string, value: number | string): void {
    const before = this.#sources.get(key);
    if (before !== undefined && before !== value) this.changedSources.push(key);
    this.#sources.set(key, value);
  }
}

/** A handler that does what the program says. */
export function compile(program: Program, trace: Trace): (flow: Flow) => Promise<string> {
  return (flow) => execute(program, '0', flow, trace);
}

/** A small number that depends on the text only. */
export function hash(text: string): number {
  let value = 7;
  for (const character of text) value = (value * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return value;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function execute(program: Program, at: string, flow: Flow, trace: Trace): Promise<string> {
  const part = (child: Program, index: number): Promise<string> =>
    execute(child, `${at}.${index}`, flow, trace);
  switch (program.type) {
    case 'step':
      return await settling(
        at,
        flow.step(at, () => {
          trace.ran(at);
          return work(at, program.duration, program.fails);
        }),
        trace,
      );
    case 'ask':
      return await settling(at, ask(program.kind, at, flow), trace);
    case 'detach':
      await flow.detach();
      return 'detached';
    case 'source':
      // An abandoned handler may draw what is recorded nowhere.
      if (!flow.signal.aborted) trace.drew(at, flow[program.of]());
      return program.of;
    case 'microtasks':
    case 'turns':
      await take({ in: program.type, count: program.count });
      return 'later';
    case 'sequence': {
      const values: string[] = [];
      for (const [index, child] of program.parts.entries()) values.push(await part(child, index));
      return `(${values.join(' ')})`;
    }
    case 'all':
      return `[${(await Promise.all(program.parts.map(part))).join(' ')}]`;
    case 'race':
      return `<${await Promise.race(program.parts.map(async (child, index) => `${index}:${await part(child, index)}`))}>`;
    case 'branch':
      return hash(await part(program.on, 0)) % 2 === 0
        ? await part(program.then, 1)
        : await part(program.otherwise, 2);
    case 'catch':
      try {
        return await part(program.body, 0);
      } catch (error) {
        return `caught ${String(error)}`;
      }
    case 'finally':
      return await withFinally(at, () => part(program.body, 0), trace);
  }
}

async function settling(at: string, waited: Promise<string>, trace: Trace): Promise<string> {
  try {
    return await waited;
  } finally {
    trace.settled(at);
  }
}

/** A body that was abandoned while it waited must not reach its `finally`. */
async function withFinally(at: string, body: () => Promise<string>, trace: Trace): Promise<string> {
  let settled = false;
  try {
    const value = await body();
    settled = true;
    return value;
  } catch (error) {
    settled = true;
    throw error;
  } finally {
    if (!settled) trace.faults.push(`finally of ${at} ran while its body was suspended`);
  }
}

async function ask(kind: 'form' | 'elicit' | 'confirm' | 'url', at: string, flow: Flow): Promise<string> {
  const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;
  switch (kind) {
    case 'form':
      return (await flow.form(at, { message: at, schema })).text;
    case 'elicit':
      return JSON.stringify(await flow.elicit(at, { message: at, schema }));
    case 'confirm':
      return String(await flow.confirm(at, at));
    case 'url':
      return (await flow.elicitUrl(at, { message: at, url: 'https://example.com/' })).action;
  }
}

function work(at: string, duration: Duration, fails: boolean): string | Promise<string> {
  const conclude = (): string => {
    if (fails) throw new RangeError(`no ${at}`);
    return `did ${at}`;
  };
  return duration.in === 'sync' ? conclude() : take(duration).then(conclude);
}

async function take(duration: Exclude<Duration, { in: 'sync' }>): Promise<void> {
  for (let index = 0; index < duration.count; index += 1)
    await (duration.in === 'turns' ? turn() : undefined);
}
