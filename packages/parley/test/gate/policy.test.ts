import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigurationError, Parley, type FlowToolConfig, type ParleyOptions } from '../../src/index.js';
import { accept, instance, stateOf, TEST_KEY, textOf, type Instance } from './wire-harness.js';

type Config = FlowToolConfig<undefined, never>;

function server(config: Config, options: ParleyOptions & { work?: boolean } = {}): Instance {
  const { work = false, ...rest } = options;
  return instance((flows) => {
    flows.registerTool('t', config, async (flow) => {
      if (work) await flow.step('work', () => 1);
      const { a } = await flow.form('a', { message: 'A?', schema: z.object({ a: z.string() }) });
      const { b } = await flow.form('b', { message: 'B?', schema: z.object({ b: z.string() }) });
      return { content: [{ type: 'text', text: a + b }] };
    });
  }, rest);
}

const answerA = { a: accept({ a: '1' }) };

describe('a handler with a version', () => {
  it.each([
    ['the same', { version: '1' }, { version: '1' }, undefined],
    ['another', { version: '1' }, { version: '2' }, 'version'],
    ['another that is accepted', { version: '1' }, { version: '2', accepts: ['1'] }, undefined],
    ['none, then one', {}, { version: '1' }, 'version'],
    ['one, then none', { version: '1' }, {}, 'version'],
  ])('%s', async (_, sealed, opened, reason) => {
    const requestState = stateOf(await server(sealed).call('tools/call', 't'));
    const second = server(opened);
    const answer = await second.call('tools/call', 't', { requestState, inputResponses: answerA });
    expect(second.rejections).toEqual(reason === undefined ? [] : [reason]);
    if (reason === undefined) expect(Object.keys(answer.result?.inputRequests ?? {})).toEqual(['b']);
    else expect(answer.error?.code).toBe(-32_602);
  });

  it('cannot accept other versions without having one', async () => {
    const answer = await server({ accepts: ['1'] }).call('tools/call', 't');
    expect(answer.status).toBe(500); // registering failed, in the factory
  });
});

describe('a state that is too old (STATE-06, GAP-23)', () => {
  function clock(): { now: () => number; pass: (ms: number) => void } {
    let time = Date.UTC(2026, 6, 28);
    return { now: () => time, pass: (ms) => void (time += ms) };
  }

  it('is rejected after ten minutes by default, and taken until then', async () => {
    const { now, pass } = clock();
    const s = server({}, { now });
    const requestState = stateOf(await s.call('tools/call', 't'));
    pass(600_000);
    const inTime = await s.call('tools/call', 't', { requestState, inputResponses: answerA });
    expect(inTime.result?.resultType).toBe('input_required');
    pass(1);
    const late = await s.call('tools/call', 't', { requestState, inputResponses: answerA });
    expect(late.error?.code).toBe(-32_602);
    expect(s.rejections).toEqual(['expired']);
  });

  it('gets a new time to live with each round, up to a deadline that does not slide', async () => {
    const { now, pass } = clock();
    const s = server({ ttl: 60_000, deadline: 100_000 }, { now });
    const first = stateOf(await s.call('tools/call', 't'));
    pass(50_000);
    const second = stateOf(await s.call('tools/call', 't', { requestState: first, inputResponses: answerA }));
    pass(49_000);
    const third = stateOf(await s.call('tools/call', 't', { requestState: second, inputResponses: {} }));
    pass(2_000);
    const late = await s.call('tools/call', 't', { requestState: third, inputResponses: {} });
    expect(late.error?.code).toBe(-32_602);
    expect(s.rejections).toEqual(['deadline']);
  });

  it(`starts over where the handler says so, without the answers that came with it`, async () => {
    const { now, pass } = clock();
    const s = server({ expired: 'restart' }, { now });
    const requestState = stateOf(await s.call('tools/call', 't'));
    pass(600_001);
    const answer = await s.call('tools/call', 't', { requestState, inputResponses: answerA });
    expect(Object.keys(answer.result?.inputRequests ?? {})).toEqual(['a']);
    expect(s.rejections).toEqual([]);
  });

  it('does not start over once work was recorded', async () => {
    const { now, pass } = clock();
    const s = server({ expired: 'restart' }, { now, work: true });
    const requestState = stateOf(await s.call('tools/call', 't'));
    pass(600_001);
    await s.call('tools/call', 't', { requestState, inputResponses: answerA });
    expect(s.rejections).toEqual(['expired']);
  });
});

describe('bounds', () => {
  it('a state over limits.stateBytes is a tool error that names the largest entries', async () => {
    const s = instance((flows) => {
      flows.registerTool('t', {}, async (flow) => {
        await flow.step('small', () => 'x');
        await flow.step('huge', () => 'x'.repeat(60_000));
        await flow.confirm('go', 'Go?');
        return { content: [] };
      });
    });
    const answer = await s.call('tools/call', 't');
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toMatch(/limit is 49152 \(limits.stateBytes\). Largest entries: 'huge' 60\d\d\d/);
    expect(answer.text).not.toContain('xxx');
  });

  it('a flow that does not end is ended after limits.rounds', async () => {
    const s = server({}, { limits: { rounds: 3 } });
    let answer = await s.call('tools/call', 't');
    for (let round = 2; round <= 3; round += 1) {
      answer = await s.call('tools/call', 't', { requestState: stateOf(answer), inputResponses: {} });
    }
    expect(answer.result?.isError).toBe(true);
    expect(textOf(answer)).toContain('did not end within 3 rounds');
  });

  it.each([
    [{ limits: { rounds: 0 } }],
    [{ limits: { stateBytes: 1.5 } }],
    [{ ttl: 0 }],
    [{ deadline: Number.NaN }],
    [{ keys: '' }],
    [{ keys: 'correct horse battery staple correct horse' }],
  ])('%j is refused at start', (options) => {
    expect(() => new Parley({ keys: TEST_KEY, ...options })).toThrow(ConfigurationError);
  });
});
