import { expect, it } from 'vitest';
import { readCallers } from '../../src/audit/callers.js';
import type { Target } from '../../src/connect/target.js';

const TARGET: Target = { type: 'http', url: 'https://releases.example.com/mcp' };
const ENV = { ANN: 'token-of-ann', BEN: ' token-of-ben\n' };

it('has a caller of no name alone, where nobody is signed in', () => {
  expect([...readCallers({}, TARGET, ENV).known]).toEqual(['main']);
});

it('has another, and one who is not signed in', () => {
  const callers = readCallers({ as: ['X-Key: a:b=c'], other: ['X-Key=d'] }, TARGET, ENV);
  expect([...callers.known]).toEqual(['main', 'other', 'anonymous']);
  expect(callers.headers).toEqual({ main: [['X-Key', 'a:b=c']], other: [['X-Key', 'd']] });
});

it('takes tokens from the environment, and knows them for secrets', () => {
  const { headers, secrets } = readCallers({ bearerEnv: 'ANN', otherBearerEnv: 'BEN' }, TARGET, ENV);
  expect(headers.other).toEqual([['Authorization', 'Bearer token-of-ben']]);
  expect(secrets).toEqual(expect.arrayContaining(['Bearer token-of-ann', 'token-of-ann', 'token-of-ben']));
});

it('lets nobody sign in twice', () => {
  const options = { as: ['authorization: Basic eA=='], bearerEnv: 'ANN' };
  expect(() => readCallers(options, TARGET, ENV)).toThrow('--as sets the header Authorization twice.');
});

it.each(['http://127.0.0.1:1/mcp', 'http://localhost/mcp', 'http://[::1]/mcp'])(
  'takes headers without encryption on this machine: %s',
  (url) => {
    expect(readCallers({ bearerEnv: 'ANN' }, { type: 'http', url }, ENV).known.size).toBe(2);
  },
);

it.each(['http://127.0.0.1.example.com/mcp', 'http://10.0.0.1/mcp'])('and not to another: %s', (url) => {
  expect(() => readCallers({ bearerEnv: 'ANN' }, { type: 'http', url }, ENV)).toThrow('in clear text');
});
