import { expect, test } from 'vitest';
import { secretsIn } from '../../../src/audit/state/secrets.js';
import { headerIn } from '../../../src/audit/wire/http-headers.js';

const kinds = (value: unknown, known?: readonly string[]) => secretsIn(value, known).map(({ kind }) => kind);

test.for([
  ['an e-mail address', { a: 'ann@example.com' }],
  ['a bearer token', { a: 'Bearer abcdefgh1234' }],
  ['an API key', { a: 'sk-abcdefghij0123456789' }],
  ['a GitHub token', { a: `ghp_${'a1'.repeat(18)}` }],
  ['a JWT', { a: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2ln' }],
  ['a card number', { a: '4111 1111 1111 1111' }],
  ['a card number', { a: 4_111_111_111_111_111 }],
  ['a secret by its name', { user: { password: 'x' } }],
  ['a secret by its name', { refreshToken: 'x' }],
  ['a secret by its name', { user_api_key: ['x'] }],
] as const)('tells %s', ([kind, value]) => {
  expect(kinds(value)).toEqual([kind]);
});

test('tells where it is, and nothing of what it is', () => {
  const found = secretsIn({ session: { mail: 'ann@example.com' } });
  expect(found).toEqual([{ field: 'session.mail', kind: 'an e-mail address' }]);
});

test('tells an answer that was given before, unless it is too short to be told from chance', () => {
  expect(kinds({ a: 'holiday in Rome', b: 'Rome' }, ['holiday', 'Rome'])).toEqual([
    'an answer that was given before',
  ]);
});

test.for([
  { expires: 1_796_016_600_000, iat: 1_796_016_600 },
  { digest: '4111111111111112', flow: '0d9c6ef6-2f6f-4b3f-9a3d-4a9d3c8f0a11' },
  { tokenCount: 5, pinned: true, secretary: 'ann', step: 'password-reset' },
  { password: '', pin: false },
])('says nothing of %j', (value) => {
  expect(kinds(value)).toEqual([]);
});

test("names the header of the caller's whose value stands in it, and not the value (STATE-12)", () => {
  const callers = { main: [['Authorization', 'Bearer secret-of-ann']] } as const;
  const inHeaders = (text: string): string | undefined => headerIn(text, callers);
  expect(secretsIn({ by: 'x secret-of-ann y', n: 1 }, [], inHeaders)).toEqual([
    { field: 'by', kind: 'the value of the header Authorization' },
  ]);
  expect(secretsIn({ by: 'Bearer' }, [], inHeaders)).toEqual([]);
});

test('is not held up by a text that patterns are slow on', () => {
  expect(secretsIn({ text: 'a'.repeat(1_000_000), more: 'eyJ'.repeat(300_000) })).toEqual([]);
});
