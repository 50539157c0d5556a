import { describe, expect, it } from 'vitest';
import { generateKey, Parley, type Flows, type RejectionReason } from '../../src/index.js';
import { Emitter } from '../../src/gate/events.js';
import { RejectionLog } from '../../src/gate/rejection-log.js';
import { accept, instance, stateOf, TEST_KEY } from './wire-harness.js';

function setup(flows: Flows): void {
  flows.registerTool('pay', {}, async (flow) => {
    await flow.confirm('go', 'Pay?');
    return { content: [] };
  });
}

const yes = { go: accept({ confirm: true }) };

describe('events', () => {
  it('tell the life of a flow, with one id and rising rounds', async () => {
    const server = instance(setup);
    const asked = await server.call('tools/call', 'pay', {
      meta: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    });
    await server.call('tools/call', 'pay', { requestState: stateOf(asked), inputResponses: yes });
    expect(server.events.map(({ name }) => name)).toEqual(['sealed', 'suspended', 'opened', 'completed']);
    const heads = server.events.map(({ event }) => event as { flow: string; round: number });
    expect(new Set(heads.map(({ flow }) => flow)).size).toBe(1);
    expect(heads.map(({ round }) => round)).toEqual([1, 1, 2, 2]);
    expect(server.events[0]?.event).toMatchObject({
      method: 'tools/call',
      target: 'pay',
      bytes: stateOf(asked).length,
    });
    expect(server.events[1]?.event).toMatchObject({ questions: ['go'] });
    expect(server.events[2]?.event).toMatchObject({
      trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    expect(server.events[3]?.event).toMatchObject({ failed: false });
  });

  it('hold no argument, answer, state or identity', async () => {
    const server = instance(setup);
    const asked = await server.call('tools/call', 'pay', {
      auth: { token: 't', clientId: 'client-7', scopes: [] },
    });
    expect(JSON.stringify(server.events)).not.toContain('client-7');
    expect(JSON.stringify(server.events)).not.toContain(stateOf(asked).slice(0, 30));
  });

  it('a malformed traceparent is not carried', async () => {
    const server = instance(setup);
    const asked = await server.call('tools/call', 'pay', { meta: { traceparent: 'x'.repeat(5000) } });
    expect(stateOf(asked).length).toBeLessThan(600);
  });

  it('keyUsed tells that an old key is still needed, and stops when it is not', async () => {
    const [old, fresh] = [generateKey(), generateKey()];
    const before = instance(setup, { keys: old });
    const during = instance(setup, { keys: [fresh, old] });
    const asked = await before.call('tools/call', 'pay');
    await during.call('tools/call', 'pay', { requestState: stateOf(asked), inputResponses: yes });
    expect(during.events.map(({ name }) => name)).toContain('keyUsed');
    during.events.length = 0;
    const again = await during.call('tools/call', 'pay');
    await during.call('tools/call', 'pay', { requestState: stateOf(again), inputResponses: yes });
    expect(during.events.map(({ name }) => name)).not.toContain('keyUsed');
  });

  it('a key rotates in three phases without a flow lost', async () => {
    const [old, fresh] = [generateKey(), generateKey()];
    const phases = [[old, fresh], [fresh, old], [fresh]].map((keys) => instance(setup, { keys }));
    for (const [index, phase] of phases.slice(0, 2).entries()) {
      const asked = await phase.call('tools/call', 'pay');
      const next = phases[index + 1];
      const done = await next?.call('tools/call', 'pay', {
        requestState: stateOf(asked),
        inputResponses: yes,
      });
      expect(done?.result?.resultType).toBe('complete');
    }
  });

  it('a listener that throws fails no request, and stops listening when told', async () => {
    const server = instance(setup);
    let calls = 0;
    const stop = server.parley.on('sealed', () => {
      calls += 1;
      throw new Error('metrics are down');
    });
    const asked = await server.call('tools/call', 'pay');
    expect(asked.result?.resultType).toBe('input_required');
    expect(server.warnings.join()).toContain('a listener failed: metrics are down');
    stop();
    await server.call('tools/call', 'pay');
    expect(calls).toBe(1);
  });

  it('what nobody listens to is not made', () => {
    const emitter = new Emitter<{ a: number }>(() => undefined);
    let made = 0;
    const make = (): number => (made += 1);
    emitter.emit('a', make);
    const stop = emitter.on('a', () => undefined);
    emitter.emit('a', make);
    stop();
    emitter.emit('a', make);
    expect(made).toBe(1);
  });

  it('a listener that rejects fails nothing either', async () => {
    const faults: unknown[] = [];
    const emitter = new Emitter<{ a: number }>((error) => void faults.push(error));
    // As a listener in JavaScript is written, or one whose author did not run a linter.
    const listeners = [(): Promise<void> => Promise.reject(new Error('metrics are down'))] as (() => void)[];
    for (const listener of listeners) emitter.on('a', listener);
    emitter.emit('a', () => 1);
    await new Promise((resolve) => void setImmediate(resolve));
    expect(faults).toHaveLength(1);
  });
});

describe('the log of rejections', () => {
  function log(ephemeral = false): {
    lines: string[];
    note: (reason: RejectionReason, target?: string) => void;
    pass: (ms: number) => void;
  } {
    let time = 0;
    const lines: string[] = [];
    const rejections = new RejectionLog({ warn: (line) => void lines.push(line) }, () => time, ephemeral);
    return {
      lines,
      note: (reason, target = 'pay') => rejections.note({ method: 'tools/call', target }, reason),
      pass: (ms) => void (time += ms),
    };
  }

  it('writes a flood as one line a reason, and counts the rest', () => {
    const { lines, note, pass } = log();
    for (let index = 0; index < 1000; index += 1) note('authentication');
    note('expired');
    expect(lines).toHaveLength(2);
    pass(10_000);
    note('authentication');
    expect(lines[2]).toBe(
      'parley: requestState rejected on tools/call "pay": authentication (999 more since the last line)',
    );
  });

  it('shows what a client sent as a name such that it cannot write lines of its own', () => {
    const { lines, note } = log();
    note('malformed', `x\nparley: all is well\u001B[2J${'y'.repeat(500)}`);
    expect(lines[0]?.split('').every((character) => character >= ' ')).toBe(true);
    expect(lines[0]?.length).toBeLessThan(200);
  });

  it('says what to configure', () => {
    const [shared, ephemeral] = [log(), log(true)];
    shared.note('unknown_key');
    ephemeral.note('unknown_key');
    expect(shared.lines[0]).toContain('Give every instance the same keys');
    expect(ephemeral.lines[0]).toContain('only an ephemeral key');
  });
});

describe('a process without keys', () => {
  it('is told once what breaks and how to make a key', () => {
    const warnings: string[] = [];
    const parley = new Parley({
      keys: undefined,
      logger: { warn: (message) => void warnings.push(message) },
    });
    expect(parley).toBeInstanceOf(Parley);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/ephemeral.*no other instance.*parley keygen.*PARLEY_KEYS/s);
    const quiet: string[] = [];
    expect(
      new Parley({ keys: TEST_KEY, logger: { warn: (message) => void quiet.push(message) } }),
    ).toBeInstanceOf(Parley);
    expect(quiet).toEqual([]);
  });
});
