import type { AuthInfo } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import type { Flows, ParleyOptions } from '../../src/index.js';
import { accept, instance, stateOf, textOf, type Answer, type Instance } from './wire-harness.js';

function setup(flows: Flows): void {
  flows.registerTool('pay', {}, async (flow) => {
    const yes = await flow.confirm('go', 'Pay?');
    return { content: [{ type: 'text', text: yes ? 'paid' : 'not paid' }] };
  });
}

function user(
  sub: string | undefined,
  more: Partial<AuthInfo> = {},
  iss = 'https://issuer.example',
): AuthInfo {
  return {
    token: 'token-1',
    clientId: 'app',
    scopes: [],
    extra: { iss, ...(sub !== undefined && { sub }) },
    ...more,
  };
}

async function present(
  first: AuthInfo | undefined,
  second: AuthInfo | undefined,
  options?: ParleyOptions,
): Promise<[Instance, Answer]> {
  const server = instance(setup, options);
  const asked = await server.call('tools/call', 'pay', first === undefined ? {} : { auth: first });
  const answer = await server.call('tools/call', 'pay', {
    requestState: stateOf(asked),
    inputResponses: { go: accept({ confirm: true }) },
    ...(second !== undefined && { auth: second }),
  });
  return [server, answer];
}

describe('the principal of a state (STATE-05, STATE-11, FORM-28)', () => {
  it.each([
    [
      'the same user with a refreshed token (AUTH-06)',
      user('alice'),
      user('alice', { token: 'token-2', expiresAt: 9 }),
    ],
    ['other scopes', user('alice'), user('alice', { scopes: ['more'] })],
    ['nobody twice', undefined, undefined],
  ])('goes on: %s', async (_, first, second) => {
    const [server, answer] = await present(first, second);
    expect(textOf(answer)).toBe('paid');
    expect(server.rejections).toEqual([]);
  });

  it.each([
    ['another user of the same client', user('alice'), user('bob')],
    ['the same subject at another issuer', user('alice'), user('alice', {}, 'https://other.example')],
    ['the same user through another client', user('alice'), user('alice', { clientId: 'other' })],
    ['a user, then nobody', user('alice'), undefined],
    ['nobody, then a user', undefined, user('alice')],
    ['a client without a user, then a user', user(undefined), user('alice')],
  ])('is rejected: %s', async (_, first, second) => {
    const [server, answer] = await present(first, second);
    expect(answer.error?.code).toBe(-32_602);
    expect(server.rejections).toEqual(['principal']);
  });

  it('may be told by the application', async () => {
    const principal: ParleyOptions['principal'] = (ctx) =>
      (ctx.http?.authInfo?.extra?.['tenant'] as string) ?? null;
    const of = (tenant: string, sub: string): AuthInfo => user(sub, { extra: { tenant, sub } });
    const [, same] = await present(of('acme', 'alice'), of('acme', 'bob'), { principal });
    expect(textOf(same)).toBe('paid');
    const [server] = await present(of('acme', 'alice'), of('other', 'alice'), { principal });
    expect(server.rejections).toEqual(['principal']);
  });

  it('fails closed when it cannot be told', async () => {
    let calls = 0;
    const server = instance(setup, {
      principal: () => {
        calls += 1;
        if (calls !== 2) throw new Error('directory of alice is down');
        return 'alice';
      },
    });
    const first = await server.call('tools/call', 'pay');
    expect(first.error).toEqual({ code: -32_603, message: 'Internal error' });
    const asked = await server.call('tools/call', 'pay');
    const third = await server.call('tools/call', 'pay', {
      requestState: stateOf(asked),
      inputResponses: { go: accept({ confirm: true }) },
    });
    expect(third.error?.code).toBe(-32_602);
    expect(server.rejections).toEqual(['principal']);
    expect(first.text + third.text + server.warnings.join()).not.toContain('alice');
  });
});
