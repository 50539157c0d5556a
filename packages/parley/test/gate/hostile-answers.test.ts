import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Flows } from '../../src/index.js';
import { accept, instance, stateOf, textOf } from './wire-harness.js';

const form = { message: 'Your name?', schema: z.object({ name: z.string().max(20) }) };

function setup(flows: Flows): void {
  flows.registerTool('greet', {}, async (flow) => {
    const outcome = await flow.elicit('name', form);
    return {
      content: [{ type: 'text', text: outcome.action === 'accept' ? outcome.content.name : outcome.action }],
    };
  });
}

/** A tool that asks for two names, one after the other. */
function askTwice(flows: Flows): void {
  flows.registerTool('two', {}, async (flow) => {
    const { name } = await flow.form('name', form);
    const { name: second } = await flow.form('second', form);
    return { content: [{ type: 'text', text: `${name} ${second}` }] };
  });
}

async function answerWith(
  inputResponses: unknown,
): Promise<Awaited<ReturnType<ReturnType<typeof instance>['call']>>> {
  const server = instance(setup);
  const requestState = stateOf(await server.call('tools/call', 'greet'));
  const answer = await server.call('tools/call', 'greet', { requestState, inputResponses });
  expect(server.rejections).toEqual([]);
  return answer;
}

describe('a map of answers that is not one (MRTR-S-11, MRTR-S-12, CF sep-2322-validate-input-responses)', () => {
  it.each([
    ['null', null],
    ['a list', [{ action: 'accept' }]],
    ['a number', 5],
    ['a text', 'accept'],
    ['empty', {}],
  ])('%s counts as no answer: asked again, at the same price', async (_, responses) => {
    const answer = await answerWith(responses);
    expect(answer.result?.resultType).toBe('input_required');
    expect(answer.result?.inputRequests?.['name']?.params['message']).toBe('Your name?');
  });
});

describe('an answer that is not one (CORE-10, GAP-14)', () => {
  it.each([
    ['a number', 12_345],
    ['null', null],
    ['a list', ['accept']],
    ['of another kind: sampling', { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }],
    ['of another kind: roots', { roots: [] }],
    ['without an action', { content: { name: 'Ada' } }],
    ['with an unknown action', { action: 'agree', content: { name: 'Ada' } }],
    ['in a JSON-RPC envelope', { result: { action: 'accept', content: { name: 'Ada' } } }],
    ['larger than 64 KiB', accept({ name: 'x'.repeat(70_000) })],
  ])('%s: asked again, in the same words', async (_, name) => {
    const answer = await answerWith({ name });
    expect(answer.result?.inputRequests?.['name']?.params['message']).toBe('Your name?');
  });

  it.each([
    ['content that is a text', { action: 'accept', content: 'Ada' }, 'its content is not an object'],
    ['content that is a list', { action: 'accept', content: ['Ada'] }, 'its content is not an object'],
    ['an accept without content (GAP-15)', { action: 'accept' }, 'it was accepted without content'],
    ['a missing field (FORM-20)', accept({}), `'name' is missing`],
    ['a field of another type', accept({ name: 7 }), `'name' must be a text`],
    ['a field out of bounds', accept({ name: 'x'.repeat(21) }), `'name' must have at most 20 characters`],
  ])('%s: asked again with the reason', async (_, name, reason) => {
    const answer = await answerWith({ name });
    expect(answer.result?.inputRequests?.['name']?.params['message']).toContain(reason);
  });

  it('the third one that does not fit ends the call as a tool error that names the question', async () => {
    const server = instance(setup);
    let answer = await server.call('tools/call', 'greet');
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      answer = await server.call('tools/call', 'greet', {
        requestState: stateOf(answer),
        inputResponses: { name: accept({ name: 7 }) },
      });
    }
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toMatch(/question 'name' got no usable answer in 3 attempts/);
  });

  it('a decline is a decline, whatever content comes with it', async () => {
    const answer = await answerWith({ name: { action: 'decline', content: { name: 'Mallory' } } });
    expect(textOf(answer)).toBe('decline');
  });
});

describe('keys that JavaScript treats specially', () => {
  for (const key of ['constructor', 'toString', 'hasOwnProperty', 'undefined', '']) {
    it(`'${key}' as a question's key is asked, not found on a prototype, and answered`, async () => {
      const server = instance((flows) => {
        flows.registerTool('greet', {}, async (flow) => {
          const { name } = await flow.form(key, form);
          return { content: [{ type: 'text', text: name }] };
        });
      });
      const first = await server.call('tools/call', 'greet', { inputResponses: {} });
      expect(Object.keys(first.result?.inputRequests ?? {})).toEqual([key]);
      const again = await server.call('tools/call', 'greet', {
        requestState: stateOf(first),
        inputResponses: {},
      });
      expect(again.result?.resultType).toBe('input_required');
      const last = await server.call('tools/call', 'greet', {
        requestState: stateOf(again),
        inputResponses: { [key]: accept({ name: 'Ada' }) },
      });
      expect(textOf(last)).toBe('Ada');
    });
  }

  it(`'__proto__' as a question's key is refused, with a message that names the call`, async () => {
    const server = instance((flows) => {
      flows.registerTool('greet', {}, async (flow) => {
        await flow.form('__proto__', form);
        return { content: [] };
      });
    });
    const answer = await server.call('tools/call', 'greet');
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toMatch(/The key of flow.form must be a string.*not '__proto__'/);
  });

  it('as answer keys, on the map and in content, they are ignored and pollute nothing (MRTR-S-13)', async () => {
    const server = instance(setup);
    const requestState = stateOf(await server.call('tools/call', 'greet'));
    const hostile =
      '{"__proto__":{"action":"accept","content":{"name":"Mallory"},"polluted":1},"constructor":{"action":"accept"},"toString":{"action":"decline"}}';
    const inputResponses: unknown = JSON.parse(
      `${hostile.slice(0, -1)},"name":{"action":"accept","content":{"name":"Ada","__proto__":{"polluted":1},"constructor":7}}}`,
    );
    const answer = await server.call('tools/call', 'greet', { requestState, inputResponses });
    expect(textOf(answer)).toBe('Ada');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const unanswered = await server.call('tools/call', 'greet', {
      requestState,
      inputResponses: JSON.parse(hostile),
    });
    expect(unanswered.result?.resultType).toBe('input_required');
  });
});

describe('answers that nobody asked for (STATE-15, GAP-13)', () => {
  it('a form takes one on a first request; a confirmation asks all the same', async () => {
    const server = instance((flows) => {
      setup(flows);
      flows.registerTool('delete', {}, async (flow) => {
        const yes = await flow.confirm('go', 'Delete everything?');
        return { content: [{ type: 'text', text: yes ? 'deleted' : 'kept' }] };
      });
    });
    const greeted = await server.call('tools/call', 'greet', {
      inputResponses: { name: accept({ name: 'Ada' }) },
    });
    expect(textOf(greeted)).toBe('Ada');
    const asked = await server.call('tools/call', 'delete', {
      inputResponses: { go: accept({ confirm: true }) },
    });
    expect(asked.result?.resultType).toBe('input_required');
    const done = await server.call('tools/call', 'delete', {
      requestState: stateOf(asked),
      inputResponses: { go: accept({ confirm: true }) },
    });
    expect(textOf(done)).toBe('deleted');
  });

  it('an answer to a later question is not taken before that question was asked', async () => {
    const server = instance(askTwice);
    const first = await server.call('tools/call', 'two');
    const answer = await server.call('tools/call', 'two', {
      requestState: stateOf(first),
      inputResponses: { name: accept({ name: 'Ada' }), second: accept({ name: 'early' }) },
    });
    expect(Object.keys(answer.result?.inputRequests ?? {})).toEqual(['second']);
  });

  it('an answer that was settled is not overwritten by a later one', async () => {
    const server = instance(askTwice);
    const first = await server.call('tools/call', 'two');
    const second = await server.call('tools/call', 'two', {
      requestState: stateOf(first),
      inputResponses: { name: accept({ name: 'Ada' }) },
    });
    const last = await server.call('tools/call', 'two', {
      requestState: stateOf(second),
      inputResponses: { name: accept({ name: 'Mallory' }), second: accept({ name: 'Lovelace' }) },
    });
    expect(textOf(last)).toBe('Ada Lovelace');
  });

  it('unknown keys never grow the state', async () => {
    const server = instance(setup);
    const requestState = stateOf(await server.call('tools/call', 'greet'));
    const junk = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`k${index}`, accept({ junk: 'x'.repeat(50) })]),
    );
    const answer = await server.call('tools/call', 'greet', { requestState, inputResponses: junk });
    expect(stateOf(answer).length).toBe(requestState.length);
  });
});
