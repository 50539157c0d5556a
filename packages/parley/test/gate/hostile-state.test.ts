import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Flows } from '../../src/index.js';
import { accept, instance, stateOf, textOf, type Answer, type Instance } from './wire-harness.js';

const nameForm = { message: 'Your name?', schema: z.object({ name: z.string() }) };

function setup(flows: Flows): void {
  for (const tool of ['greet', 'other']) {
    flows.registerTool(tool, { inputSchema: z.looseObject({}) }, async (_args, flow) => {
      const { name } = await flow.form('name', nameForm);
      return { content: [{ type: 'text', text: `${tool} ${name}` }] };
    });
  }
  flows.registerPrompt('greet', {}, async (flow) => {
    const { name } = await flow.form('name', nameForm);
    return { messages: [{ role: 'user', content: { type: 'text', text: name } }] };
  });
}

const REJECTED = {
  code: -32_602,
  message: 'Invalid or expired requestState',
  data: { reason: 'invalid_request_state' },
};

/** Exactly one body for every cause (GAP-01, STATE-16), and the true reason for the operator. */
function expectRejected(server: Instance, answer: Answer, reason: string): void {
  expect(answer.error).toEqual(REJECTED);
  expect(answer.result).toBeUndefined();
  expect(server.rejections.at(-1)).toBe(reason);
}

async function asked(args: Record<string, unknown> = {}): Promise<{ server: Instance; state: string }> {
  const server = instance(setup);
  return { server, state: stateOf(await server.call('tools/call', 'greet', { arguments: args })) };
}

const answers = { name: accept({ name: 'Ada' }) };

describe('a state that is not one (STATE-01, STATE-17)', () => {
  it.each([
    ['a number', 5, 'not_a_string'],
    ['an object', {}, 'not_a_string'],
    ['an array', [], 'not_a_string'],
    ['null', null, 'not_a_string'],
    ['true', true, 'not_a_string'],
    ['empty', '', 'malformed'],
    ['prose', 'let me in', 'malformed'],
    ['only a prefix', 'parley1.', 'malformed'],
    ['1 MB', 'A'.repeat(1024 * 1024), 'too_long'],
    ['1 MB with our prefix', `parley1.${'A'.repeat(1024 * 1024)}`, 'too_long'],
  ])('%s', async (_, requestState, reason) => {
    const { server } = await asked();
    const answer = await server.call('tools/call', 'greet', { requestState, inputResponses: answers });
    // The SDK refuses what is no string before anybody else sees it, with the same answer.
    if (reason === 'not_a_string') expect(answer.error).toEqual(REJECTED);
    else expectRejected(server, answer, reason);
  });
});

describe('a state that was edited (STATE-02, STATE-03)', () => {
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

  it('any one character changed is rejected', async () => {
    const { server, state } = await asked();
    for (let index = 0; index < state.length; index += 1) {
      const character = state[index] ?? '';
      const next = ALPHABET[(ALPHABET.indexOf(character) + 1) % 64] ?? '';
      const edited = state.slice(0, index) + next + state.slice(index + 1);
      const answer = await server.call('tools/call', 'greet', {
        requestState: edited,
        inputResponses: answers,
      });
      expect(answer.error, `character ${index}`).toEqual(REJECTED);
    }
    expect(new Set(server.rejections)).toEqual(
      new Set(['malformed', 'unknown_key', 'commitment', 'authentication']),
    );
  });

  it('any truncation is rejected', async () => {
    const { server, state } = await asked();
    for (let length = 0; length < state.length; length += 1) {
      const answer = await server.call('tools/call', 'greet', {
        requestState: state.slice(0, length),
        inputResponses: answers,
      });
      expect(answer.error, `length ${length}`).toEqual(REJECTED);
    }
  });

  it.each([
    ['a suffix', (s: string) => `${s}-TAMPERED`],
    ['padding', (s: string) => `${s}=`],
    ['double padding', (s: string) => `${s}==`],
    ['a space before', (s: string) => ` ${s}`],
    ['a space after', (s: string) => `${s} `],
    ['a line break', (s: string) => `${s}\n`],
    ['a space inside', (s: string) => `${s.slice(0, 40)} ${s.slice(40)}`],
    ['the other base64 alphabet', (s: string) => `${s}+/`],
    ['itself twice', (s: string) => s + s],
    ['another prefix', (s: string) => s.replace('parley1.', 'parley2.')],
  ])('%s is rejected', async (_, edit) => {
    const { server, state } = await asked();
    const answer = await server.call('tools/call', 'greet', {
      requestState: edit(state),
      inputResponses: answers,
    });
    expect(answer.error).toEqual(REJECTED);
  });

  it('other last characters that decode to the same bytes are rejected', async () => {
    // A token's length modulo 4 decides whether its last character has unused bits; find one that has.
    for (let extra = 0; extra < 3; extra += 1) {
      const { server, state } = await asked({ extra: 'x'.repeat(extra) });
      const last = ALPHABET.indexOf(state.at(-1) ?? '');
      for (let bits = 1; bits < 4; bits += 1) {
        const edited = state.slice(0, -1) + (ALPHABET[last ^ bits] ?? '');
        const answer = await server.call('tools/call', 'greet', {
          arguments: { extra: 'x'.repeat(extra) },
          requestState: edited,
          inputResponses: answers,
        });
        expect(answer.error).toEqual(REJECTED);
      }
    }
  });
});

describe('a state that was sealed for something else (STATE-07)', () => {
  it.each([
    ['another tool', 'tools/call', 'other', 'request'],
    ['a prompt of the same name', 'prompts/get', 'greet', 'request'],
  ] as const)('%s', async (_, method, target, reason) => {
    const { server, state } = await asked();
    const answer = await server.call(method, target, { requestState: state, inputResponses: answers });
    expectRejected(server, answer, reason);
  });

  it.each([
    ['a changed value', { a: 1, b: 2 }, { a: 1, b: 3 }],
    ['a member more', { a: 1 }, { a: 1, b: 2 }],
    ['a member less', { a: 1, b: 2 }, { a: 1 }],
    ['a text for a number', { a: 1 }, { a: '1' }],
    ['null for absent', { a: null }, {}],
    ['another order in a list', { a: [1, 2] }, { a: [2, 1] }],
  ])('other arguments: %s', async (_, first, second) => {
    const { server, state } = await asked(first);
    const answer = await server.call('tools/call', 'greet', {
      arguments: second,
      requestState: state,
      inputResponses: answers,
    });
    expectRejected(server, answer, 'request');
  });

  it('the same arguments in another order are accepted (GAP-22)', async () => {
    const { server, state } = await asked({ a: 1, b: { c: 2, d: 3 } });
    const answer = await server.call('tools/call', 'greet', {
      arguments: { b: { d: 3, c: 2 }, a: 1 },
      requestState: state,
      inputResponses: answers,
    });
    expect(textOf(answer)).toBe('greet Ada');
  });

  it('a state of a server with another name, under the same keys', async () => {
    const { server } = await asked();
    const neighbour = instance(setup, { name: 'neighbour' });
    const answer = await server.call('tools/call', 'greet', {
      requestState: stateOf(await neighbour.call('tools/call', 'greet')),
      inputResponses: answers,
    });
    expectRejected(server, answer, 'unknown_key');
  });
});

describe('arguments that have no canonical form', () => {
  const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });

  it.each([
    ['a lone surrogate', { text: '\uD800' }],
    ['a lone surrogate in a key', { '\uDC00': 1 }],
    ['nesting deeper than 64', { a: deep(80) }],
  ])('%s: the call that asks is refused, and the reason is told', async (_, args) => {
    const server = instance(setup);
    const answer = await server.call('tools/call', 'greet', { arguments: args });
    expect(answer.error?.code).toBe(-32_602);
    expect(answer.error?.message).toMatch(/^Arguments cannot be bound to a state: /);
  });

  it('presented with a genuine state, they are a rejected state', async () => {
    const { server, state } = await asked();
    const answer = await server.call('tools/call', 'greet', {
      arguments: { text: '\uD800' },
      requestState: state,
      inputResponses: answers,
    });
    expectRejected(server, answer, 'request');
  });
});

describe('instances and keys (GAP-24)', () => {
  it('any instance with the keys goes on with a state (MRTR-S-15, CORE-23)', async () => {
    const { state } = await asked();
    const answer = await instance(setup).call('tools/call', 'greet', {
      requestState: state,
      inputResponses: answers,
    });
    expect(textOf(answer)).toBe('greet Ada');
  });

  it('two processes with ephemeral keys reject each other, and the log says what to configure (STATE-10)', async () => {
    const first = instance(setup, { keys: undefined });
    const second = instance(setup, { keys: undefined });
    expect(first.warnings.join()).toContain('parley keygen');
    const answer = await second.call('tools/call', 'greet', {
      requestState: stateOf(await first.call('tools/call', 'greet')),
      inputResponses: answers,
    });
    expectRejected(second, answer, 'unknown_key');
    expect(second.warnings.at(-1)).toMatch(/unknown_key.*parley keygen.*PARLEY_KEYS on every instance/);
  });

  it('neither the answer nor a step nor the arguments can be read in a state (STATE-12)', async () => {
    const server = instance((flows) => {
      flows.registerTool('secret', { inputSchema: z.object({ hint: z.string() }) }, async (_args, flow) => {
        await flow.step('lookup', () => ({ password: 'correct horse' }));
        await flow.confirm('go', 'Go on?');
        return { content: [] };
      });
    });
    const state = stateOf(await server.call('tools/call', 'secret', { arguments: { hint: 'a staple' } }));
    const readable = Buffer.from(state.slice('parley1.'.length), 'base64url').toString('latin1') + state;
    for (const secret of ['correct horse', 'a staple', 'lookup', 'secret', 'go']) {
      if (secret.length > 4) expect(readable).not.toContain(secret);
    }
  });
});
