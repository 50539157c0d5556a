import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { drive } from '../../src/client/index.js';
import { CALL, failureOf, interim, optionsWith, printed, scripted, textForm } from './harness.js';

const STATE = 'very-secret-state.0123456789-abcdefghijklmnopqrstuvwxyz';
/** Parts of it, from anywhere. */
const PARTS = /very-secret|0123456789|abcdefgh|stuvwxyz/;

const withAnswer = (second: () => unknown, state = STATE) =>
  scripted((_request, nth) =>
    nth === 1 ? interim({ inputRequests: { q: textForm() }, requestState: state }) : second(),
  );

const all = (error: unknown): string =>
  inspect(error, {
    depth: Infinity,
    showHidden: true,
    getters: true,
    maxStringLength: null,
    maxArrayLength: null,
  }) + printed(error);

describe('a state is in no error', () => {
  it.each<[string, unknown]>([
    ['as the name of a member', { data: { [STATE]: 'unknown state' } }],
    ['as a part of such a name', { data: { errors: [{ [`state=${STATE};`]: 1 }] } }],
    [
      'behind a thousand other things',
      {
        data: { issues: Array.from({ length: 1100 }, (_, path) => ({ path })), got: { requestState: STATE } },
      },
    ],
    [
      'under a thousand others',
      { data: Array.from({ length: 1100 }).reduce<object>((inner) => ({ inner }), { requestState: STATE }) },
    ],
    ['in a list, many times', { data: Array.from({ length: 50 }, () => STATE) }],
    ['in a message, many times', { message: `${STATE}, ${STATE}; ${STATE}${STATE}` }],
  ])('%s', async (_, members) => {
    const { client } = await withAnswer(() => ({ code: -32_000, message: 'bad', ...(members as object) }));
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(all(failure)).not.toMatch(PARTS);
    expect(all(failure)).toContain('[requestState]');
  });

  it.each([
    ['its end', `...${STATE.slice(10)}`],
    ['its middle', `...${STATE.slice(15, 45)}...`],
    ['its beginning', `${STATE.slice(0, 30)}...`],
    ['its beginning and its end', `${STATE.slice(0, 20)}...${STATE.slice(-20)}`],
    ['pieces of itself', `${STATE.slice(0, 25)}${STATE.slice(5, 40)}`],
  ])('%s', async (_, echo) => {
    const { client } = await withAnswer(() => new Response(echo, { status: 502 }));
    expect(all(await failureOf(drive(client, CALL, optionsWith())))).not.toMatch(PARTS);
  });

  it.each<[string, (state: string) => string]>([
    ['for a URL', encodeURIComponent],
    [
      'for a URL, in small letters',
      (state) => encodeURIComponent(state).replaceAll(/%../g, (code) => code.toLowerCase()),
    ],
    ['as JSON', (state) => JSON.stringify({ state })],
    ['as JSON in JSON', (state) => JSON.stringify(JSON.stringify({ state }))],
  ])('written %s', async (_, written) => {
    const odd = 'a state/with+things=to&escape "and" \\more\u00e9 of it';
    const { client } = await withAnswer(() => new Response(written(odd), { status: 502 }), odd);
    expect(all(await failureOf(drive(client, CALL, optionsWith())))).not.toMatch(
      /state.{1,5}with|escape|more/,
    );
  });

  it('that came with an answer which cannot be used', async () => {
    const broken = interim({ inputRequests: { q: textForm() }, requestState: STATE, content: [] });
    for (const answer of [
      { ...broken, resultType: STATE },
      { ...broken, resultType: 'complete', content: STATE },
    ]) {
      const { client } = await scripted(() => answer);
      expect(all(await failureOf(drive(client, CALL, optionsWith())))).not.toMatch(PARTS);
    }
  });

  it('nor found by looking through getters and hidden members', async () => {
    const { client } = await withAnswer(() => new Response('', { status: 500 }));
    const failure = await failureOf(drive(client, CALL, optionsWith()));
    expect(all(failure)).not.toMatch(PARTS);
    expect('flow' in failure).toBe(false);
  });
});
