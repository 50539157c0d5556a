import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import {
  runFlow,
  type AttachedOutcome,
  type DetachOptions,
  type ElicitOutcome,
  type Flow,
  type RunInput,
  type RunOutcome,
} from '../../src/flow/index.js';
import { rehearse, type Rehearsal } from '../../src/testing/index.js';

/*
 * What the compiler must know. The bodies are never run: `npx tsc --noEmit -p tsconfig.json` is the test.
 * Functions, not statements, so that nothing is called.
 */

declare const flow: Flow;

interface Build {
  id: string;
  size?: number;
  tags: readonly { name: 'a' | 'b' }[];
}

declare const build: Build;
declare const either: string | number;

/** Compiles, and is not run. */
const compiles = (body: () => void): void => expect(body).toBeTypeOf('function');

describe('types', () => {
  it('answers are inferred from zod schemas', () => {
    compiles(() => {
      const schema = z.object({
        region: z.enum(['eu', 'us']),
        count: z.int().default(1),
        note: z.string().optional(),
        length: z.string().transform((text) => text.length),
        several: z.array(z.enum(['x', 'y'])),
      });
      interface Content {
        region: 'eu' | 'us';
        count: number;
        note?: string | undefined;
        length: number;
        several: ('x' | 'y')[];
      }
      expectTypeOf(flow.form('q', { message: 'm', schema })).resolves.toEqualTypeOf<Content>();
      expectTypeOf(flow.elicit('q', { message: 'm', schema })).resolves.toEqualTypeOf<
        ElicitOutcome<Content>
      >();
    });
  });

  it('answers are inferred from literal restricted schemas, without as const', () => {
    compiles(() => {
      const content = flow.form('q', {
        message: 'm',
        schema: {
          type: 'object',
          properties: {
            name: { type: 'string', format: 'email' },
            region: { type: 'string', enum: ['eu', 'us'] },
            plan: {
              type: 'string',
              oneOf: [
                { const: 'free', title: 'Free' },
                { const: 'paid', title: 'Paid' },
              ],
            },
            count: { type: 'integer', minimum: 0 },
            ratio: { type: 'number' },
            sure: { type: 'boolean' },
            several: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
            titled: { type: 'array', items: { anyOf: [{ const: 'v', title: 'V' }] } },
          },
          required: ['name', 'region', 'plan', 'sure'],
        },
      });
      expectTypeOf(content).resolves.toEqualTypeOf<{
        name: string;
        region: 'eu' | 'us';
        plan: 'free' | 'paid';
        sure: boolean;
        count?: number;
        ratio?: number;
        several?: ('x' | 'y')[];
        titled?: 'v'[];
      }>();
    });
  });

  it('every field is optional in a form that requires none', () => {
    compiles(() => {
      const content = flow.form('q', {
        message: 'm',
        schema: { type: 'object', properties: { a: { type: 'string' } } },
      });
      expectTypeOf(content).resolves.toEqualTypeOf<{ a?: string }>();
    });
  });

  it('a schema that is no form does not compile', () => {
    compiles(() => {
      const message = 'm';
      // @ts-expect-error -- a nested object
      void flow.form('q', { message, schema: { type: 'object', properties: { a: { type: 'object' } } } });
      const properties = { a: { type: 'string', format: 'uuid' } } as const;
      // @ts-expect-error -- an unknown format
      void flow.form('q', { message, schema: { type: 'object', properties } });
      // @ts-expect-error -- not an object at the root
      void flow.form('q', { message: 'm', schema: { type: 'string' } });
      // @ts-expect-error -- no schema
      void flow.form('q', { message: 'm' });
      // @ts-expect-error -- no message
      void flow.form('q', { schema: z.object({ a: z.string() }) });
    });
  });

  it('the other questions have the types of their answers', () => {
    compiles(() => {
      expectTypeOf(flow.confirm('q', 'm')).resolves.toEqualTypeOf<boolean>();
      expectTypeOf(flow.elicitUrl('q', { message: 'm', url: 'u' })).resolves.toEqualTypeOf<{
        readonly action: 'accept' | 'decline' | 'cancel';
      }>();
      expectTypeOf<Awaited<ReturnType<Flow['listRoots']>>>().toExtend<readonly { readonly uri: string }[]>();
    });
  });

  it('a step gives what its function returns', () => {
    compiles(() => {
      expectTypeOf(flow.step('s', () => build)).resolves.toEqualTypeOf<Build>();
      expectTypeOf(flow.step('s', async () => await Promise.resolve(build))).resolves.toEqualTypeOf<Build>();
      expectTypeOf(flow.step('s', () => 1)).resolves.toEqualTypeOf<number>();
      expectTypeOf(
        flow.step('s', async ({ signal }) => await Promise.resolve(signal.aborted)),
      ).resolves.toEqualTypeOf<boolean>();
      expectTypeOf(flow.step('s', () => undefined)).resolves.toEqualTypeOf<undefined>();
      expectTypeOf(flow.step('s', () => {})).resolves.toEqualTypeOf<void>();
      expectTypeOf(flow.step('s', () => build as Build | null)).resolves.toEqualTypeOf<Build | null>();
      expectTypeOf(flow.step('s', async () => await Promise.resolve(either))).resolves.toEqualTypeOf<
        string | number
      >();
    });
  });

  it('a step may return one of several types', () => {
    compiles(() => {
      void flow.step('s', () => either);
      void flow.step('s', (): { ok: true } | { error: string } => ({ ok: true }));
      void flow.waitFor('w', () => either);
    });
  });

  it('a step that returns what JSON cannot hold does not compile', () => {
    compiles(() => {
      // @ts-expect-error -- a Date
      void flow.step('s', () => new Date());
      // @ts-expect-error -- a promise of a Date
      void flow.step('s', async () => await Promise.resolve(new Date()));
      // @ts-expect-error -- a Date inside
      void flow.step('s', () => ({ at: new Date() }));
      // @ts-expect-error -- a Map
      void flow.step('s', () => new Map<string, string>());
      // @ts-expect-error -- a Set inside a list
      void flow.step('s', async () => await Promise.resolve([{ set: new Set<string>() }]));
      // @ts-expect-error -- a function
      void flow.step('s', () => () => 1);
      // @ts-expect-error -- a method
      void flow.step('s', () => ({ run: () => 1 }));
      // @ts-expect-error -- a bigint
      void flow.step('s', () => 1n);
      // @ts-expect-error -- a symbol
      void flow.step('s', () => Symbol('s'));
      // @ts-expect-error -- a regular expression
      void flow.step('s', () => /x/);
    });
  });

  it('a wait gives its value without undefined and null', () => {
    compiles(() => {
      expectTypeOf(flow.waitFor('w', () => build as Build | undefined)).resolves.toEqualTypeOf<Build>();
      expectTypeOf(
        flow.waitFor('w', async () => await Promise.resolve(build as Build | null)),
      ).resolves.toEqualTypeOf<Build>();
      // @ts-expect-error -- a Date
      void flow.waitFor('w', () => new Date() as Date | undefined);
      // @ts-expect-error -- a text is no number of milliseconds
      void flow.waitFor('w', () => 1, { hold: '20s' });
    });
  });

  it('use gives what the resolver gives', () => {
    compiles(() => {
      expectTypeOf(flow.use((inner) => inner.confirm('q', 'm'))).resolves.toEqualTypeOf<boolean>();
      expectTypeOf(flow.use(() => 1)).toEqualTypeOf<number>();
    });
  });

  it('the sources and the context have their types', () => {
    compiles(() => {
      expectTypeOf(flow.now()).toEqualTypeOf<number>();
      expectTypeOf(flow.uuid()).toEqualTypeOf<string>();
      expectTypeOf<Flow<{ user: string }>['ctx']>().toEqualTypeOf<{ user: string }>();
    });
  });

  it('a detach gives nothing, and takes times and a message', () => {
    compiles(() => {
      expectTypeOf(flow.detach()).toEqualTypeOf<Promise<void>>();
      expectTypeOf<Parameters<Flow['detach']>[0]>().toEqualTypeOf<DetachOptions | undefined>();
      void flow.detach({ message: 'm', ttl: 1, pollInterval: 1 });
      // @ts-expect-error -- a task without an end is not offered
      void flow.detach({ ttl: null });
      void flow.step('s', async ({ heartbeat }) => {
        expectTypeOf(heartbeat('half done')).toEqualTypeOf<Promise<void>>();
        await heartbeat();
      });
    });
  });

  it('a run that cannot detach has no such outcome', () => {
    compiles(() => {
      const input = {} as RunInput<undefined>;
      expectTypeOf(runFlow(() => 5, { ...input, detached: 'done' })).resolves.toEqualTypeOf<
        AttachedOutcome<number>
      >();
      expectTypeOf(runFlow(() => 5, input)).resolves.toEqualTypeOf<RunOutcome<number>>();
    });
  });

  it('handlers of another shape do not compile', () => {
    compiles(() => {
      expectTypeOf(rehearse(() => 5)).resolves.toEqualTypeOf<Rehearsal<number>>();
      expectTypeOf(
        rehearse(async (args: { a: string }, inner: Flow) => await inner.step('s', () => args.a), {
          args: { a: 'x' },
        }),
      ).resolves.toEqualTypeOf<Rehearsal<string>>();
      // @ts-expect-error -- arguments of another type than the handler's
      void rehearse((args: { a: string }, inner: Flow) => `${args.a}${inner.id}`, { args: { a: 1 } });
      // @ts-expect-error -- three parameters
      void rehearse((args: string, inner: Flow, more: number) => [args, inner.id, more], { args: 'x' });
      // @ts-expect-error -- no handler
      void rehearse({ args: {} });
      // @ts-expect-error -- the flow object has no such call
      void rehearse((inner: Flow) => inner.prompt('q'));
      // @ts-expect-error -- keys are texts
      void flow.step(1, () => 1);
      // @ts-expect-error -- a step without work
      void flow.step('s');
    });
  });
});
