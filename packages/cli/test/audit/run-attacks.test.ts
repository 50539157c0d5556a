import { expect, it } from 'vitest';
import type { Attack, AuditContext, Finding } from '../../src/audit/attack.js';
import { runAttacks } from '../../src/audit/run-attacks.js';
import { GuardedWire } from '../../src/audit/wire/guarded-wire.js';
import type { Wire, WireReply, WireRequest } from '../../src/audit/wire/message.js';

const REQUEST: WireRequest = { method: 'tools/call', params: {}, caller: 'main' };
const SAFE: Finding = { verdict: 'safe', found: 'It refuses.' };

/** A wire that answers at once, or never. */
function wire(
  reply: Promise<WireReply> = Promise.resolve({ serverRequests: [], ms: 0 }),
): Wire & { sent: number } {
  return {
    kind: 'http',
    sent: 0,
    send() {
      this.sent += 1;
      return reply;
    },
    print: () => '',
    headerIn: () => undefined,
    close: () => Promise.resolve(),
  };
}

function attack(id: string, run: Attack['run']): Attack {
  return { id, title: id, rule: '', severity: 'high', sends: '', safe: '', fix: '', run };
}

/** All that these attacks use of a context is its wire. */
function contexts(under: Wire) {
  return (signal: AbortSignal) => ({ wire: new GuardedWire(under, signal) }) as unknown as AuditContext;
}

it('runs all, and tells which', async () => {
  const told: unknown[] = [];
  const results = await runAttacks({
    attacks: [attack('a', async () => [SAFE]), attack('b', async () => [])],
    contextFor: contexts(wire()),
    onAttack: ({ id }, nth, of) => void told.push([id, nth, of]),
  });
  expect(results.map(({ attack: { id }, findings }) => [id, findings])).toEqual([
    ['a', [SAFE]],
    ['b', []],
  ]);
  expect(told).toEqual([
    ['a', 1, 2],
    ['b', 2, 2],
  ]);
});

it('runs attacks that count effects alone, after the others, and gives results in the order of the list', async () => {
  let running = 0;
  const seen: [string, number][] = [];
  const watched = (id: string): Attack =>
    attack(id, async () => {
      running += 1;
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([id, running]);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return [SAFE];
    });
  const results = await runAttacks({
    attacks: [watched('a'), { ...watched('counts'), alone: true }, watched('b'), watched('c')],
    contextFor: contexts(wire()),
  });
  expect(results.map(({ attack: { id } }) => id)).toEqual(['a', 'counts', 'b', 'c']);
  expect(seen).toEqual([
    ['a', 3],
    ['b', 3],
    ['c', 3],
    ['counts', 1],
  ]);
});

it('takes an attack that throws for unclear, says nothing of its words, and goes on', async () => {
  const results = await runAttacks({
    attacks: [
      attack('a', () => {
        throw new TypeError('secret');
      }),
      attack('b', () => Promise.reject(new RangeError('secret'))),
      attack('c', async () => [SAFE]),
    ],
    contextFor: contexts(wire()),
  });
  expect(results.map(({ findings }) => findings)).toEqual([
    [{ verdict: 'unclear', found: 'The attack itself failed: TypeError.' }],
    [{ verdict: 'unclear', found: 'The attack itself failed: RangeError.' }],
    [SAFE],
  ]);
});

it('ends an attack that takes too long; nothing of it is sent any more', async () => {
  const silent = wire(new Promise(() => undefined));
  let late: Promise<unknown> = Promise.resolve();
  const results = await runAttacks({
    attacks: [
      attack('a', async (context) => {
        try {
          await context.wire.send(REQUEST);
        } finally {
          late = context.wire.send(REQUEST);
          late.catch(() => undefined);
        }
        return [];
      }),
      attack('b', async () => [SAFE]),
    ],
    contextFor: contexts(silent),
    attackMs: 20,
  });
  expect(results[0]?.findings).toEqual([{ verdict: 'unclear', found: 'It took longer than 0.02 s.' }]);
  expect(results[1]?.findings).toEqual([SAFE]);
  await expect(late).rejects.toThrow('Its time is over.');
  expect(silent.sent).toBe(1);
});

it('gives time to wait to the attack that waits only', async () => {
  const run: Attack['run'] = () => new Promise((resolve) => void setTimeout(() => resolve([SAFE]), 60));
  const results = await runAttacks({
    attacks: [attack('no-expiry', run), attack('a', run)],
    contextFor: contexts(wire()),
    attackMs: 20,
    waitMs: 5000,
  });
  expect(results.map(({ findings }) => findings[0]?.verdict)).toEqual(['safe', 'unclear']);
});

it('stops on the signal, whatever an attack does', async () => {
  const stop = new AbortController();
  const begun: string[] = [];
  const running = runAttacks({
    attacks: [
      attack('a', () => new Promise(() => stop.abort(new Error('stopped')))),
      attack('b', async () => []),
    ],
    contextFor: contexts(wire()),
    signal: stop.signal,
    onAttack: ({ id }) => void begun.push(id),
  });
  await expect(running).rejects.toThrow('stopped');
  expect(begun).toEqual(['a']);
});
