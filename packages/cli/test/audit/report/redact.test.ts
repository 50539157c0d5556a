import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/audit/attack.js';
import { redact, stateText, withoutHidden } from '../../../src/audit/report/redact.js';
import type { JsonObject } from '../../../src/audit/wire/message.js';
import { ANSWER, attackOf, EXCHANGE, reportOf, resultOf, STATE } from './fixture.js';

const withParams = (params: JsonObject): Exchange => ({
  ...EXCHANGE,
  request: { ...EXCHANGE.request, params },
});

describe('an exchange as it is shown', () => {
  it('holds a state by its beginning, length and digest, and answers by their keys', () => {
    expect(redact(EXCHANGE)).toMatchObject({
      caller: 'other',
      method: 'tools/call',
      params: {
        name: 'transfer',
        arguments: { account: '7' },
        requestState: expect.stringMatching(/^eyJyb3Vu… \(336 characters, sha256 [\da-f]{8}\)$/),
        inputResponses: '(answers to to)',
      },
      headers: { 'Mcp-Name': null },
      status: 200,
    });
  });

  it('holds neither wherever they stand: in texts, names, errors and failures of the server', () => {
    const { request } = EXCHANGE;
    const replies = [
      EXCHANGE.reply,
      {
        error: { code: 1, message: `bad ${STATE}`, data: { [ANSWER]: [ANSWER] } },
        serverRequests: [],
        ms: 1,
      },
      { failure: `no JSON: ${STATE} ${ANSWER}`, serverRequests: [ANSWER], ms: 1 },
    ];
    for (const reply of replies) {
      const shown = JSON.stringify(redact({ ...EXCHANGE, request, reply }));
      expect(shown).not.toContain(STATE.slice(0, 20));
      expect(shown).not.toContain(ANSWER);
      expect(shown).not.toContain('250000');
    }
  });

  it('holds no text that is to be hidden, whoever sent it', () => {
    const shown = redact(withParams({ arguments: { who: 'Bearer topsecret' } }), { hide: ['topsecret'] });
    expect(shown.params).toEqual({ arguments: { who: 'Bearer (hidden)' } });
  });

  it('leaves the word that the auditor makes up: it stands in its own name', () => {
    const { params } = redact(withParams({ _meta: { name: 'parley-audit' } }), { hide: ['audit'] });
    expect(params).toEqual({ _meta: { name: 'parley-audit' } });
  });

  it('is whole with values, but for what is to be hidden always', () => {
    const shown = JSON.stringify(redact(EXCHANGE, { showValues: true, hide: ['alert(1)'] }));
    expect(shown).toContain(STATE);
    expect(shown).toContain(ANSWER);
    expect(shown).not.toContain('alert(1)');
  });

  it('prints the request with placeholders', () => {
    const { reproduce } = redact(EXCHANGE, { print: ({ params }) => JSON.stringify(params) });
    expect(JSON.parse(reproduce ?? '')).toEqual({
      name: 'transfer',
      arguments: { account: '7' },
      requestState: '$STATE',
      inputResponses: '$ANSWERS',
    });
  });

  it('shows a state that is none as it was sent', () => {
    for (const requestState of [null, 5, true, [], {}]) {
      expect(redact(withParams({ requestState })).params).toEqual({ requestState });
    }
  });

  it('shows nothing of a short state, and says what stands for answers', () => {
    expect(stateText('abc')).toMatch(/^… \(3 characters, sha256 ba7816bf\)$/);
    expect(redact(withParams({ inputResponses: null })).params).toEqual({
      inputResponses: '(no answers, but null)',
    });
    expect(redact(withParams({ inputResponses: {} })).params).toEqual({ inputResponses: '(no answers)' });
  });

  it('cuts what is long, deep or of many members, and keeps a member named __proto__', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as JsonObject;
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`k${index}`, 'x'.repeat(5000)]),
    );
    const params = JSON.parse('{"__proto__":{"a":1}}') as JsonObject;
    const shown = redact(withParams({ deep, many, own: params })).params as JsonObject;
    expect(JSON.stringify(shown).length).toBeLessThan(40_000);
    expect(JSON.stringify(shown['own'])).toBe('{"__proto__":{"a":1}}');
  });
});

describe('what a finding says', () => {
  it('holds nothing that is hidden, and is not without end', () => {
    const report = reportOf(
      resultOf(attackOf('state-readable'), {
        verdict: 'weak',
        found: `It reads \`secret-of-ann\`, ${'x'.repeat(5000)}`,
      }),
    );
    const [result] = withoutHidden(report, { hide: ['secret-of-ann'] }).results;
    expect(result?.findings[0]?.found).toMatch(/^It reads `\(hidden\)`, x{900,}…$/);
    expect(result?.findings[0]?.found.length).toBeLessThan(1100);
  });
});

it('shows no state that an attack has sent inside of something else', () => {
  const state = 'c3RhdGUtb2YtYW5uLXdpdGhvdXQtZW5k';
  for (const requestState of [[state], { state, requestState: state }]) {
    expect(JSON.stringify(redact(withParams({ requestState })))).not.toContain(state);
  }
});
