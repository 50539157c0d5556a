import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { jwtForgeriesOf, rewritingsOf } from '../../../src/audit/state/rewrite.js';

const inBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const read = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString());

test('changes each value of a state alone, to another of its kind (STATE-02)', () => {
  const value = { round: 1, paid: false, role: 'user', to: ['ann', null], id: '7' };
  const edits = rewritingsOf(inBase64(value));
  expect(edits.map(({ what }) => what)).toEqual(
    ['round', 'paid', 'role', 'to.0', 'to.1', 'id'].map((field) => `\`${field}\` changed`),
  );
  expect(edits.map(({ state }) => read(state))).toEqual([
    { ...value, round: 2 },
    { ...value, paid: true },
    { ...value, role: 'admin' },
    { ...value, to: ['annx', null] },
    { ...value, to: ['ann', true] },
    { ...value, id: '8' },
  ]);
});

test('makes nothing of a state that cannot be read', () => {
  expect(rewritingsOf('0d9c6ef6-2f6f-4b3f-9a3d-4a9d3c8f0a11')).toEqual([]);
  expect(jwtForgeriesOf('v1.abc.def')).toEqual([]);
});

test('forges a JWT: unsigned, and signed with keys that everybody knows', () => {
  const payload = inBase64({ round: 1 });
  const forged = jwtForgeriesOf(`${inBase64({ alg: 'RS256', kid: 'k' })}.${payload}.c2ln`);
  const [none, , , , known] = forged.map(({ state }) => state.split('.'));
  expect(none?.slice(1)).toEqual([payload, '']);
  expect(read(none?.[0] ?? '')).toEqual({ alg: 'none', kid: 'k' });
  expect(read(known?.[0] ?? '')).toEqual({ alg: 'HS256', kid: 'k' });
  const right = createHmac('sha256', 'secret').update(`${known?.[0]}.${known?.[1]}`).digest('base64url');
  expect(known?.[2]).toBe(right);
});
