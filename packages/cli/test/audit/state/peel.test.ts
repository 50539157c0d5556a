import { createHash } from 'node:crypto';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { encode } from '@msgpack/msgpack';
import { expect, test } from 'vitest';
import { peel } from '../../../src/audit/state/peel.js';

const VALUE = { round: 2, user: 'ann', done: false };
const JSON_BYTES = Buffer.from(JSON.stringify(VALUE));
const MAC = createHash('sha256').update('a tag').digest();

test.for([
  ['plain JSON', JSON_BYTES.toString(), ['JSON']],
  ['JSON in a URL', encodeURIComponent(JSON_BYTES.toString()), ['percent-encoding', 'JSON']],
  ['base64', JSON_BYTES.toString('base64'), ['base64url', 'JSON']],
  ['hexadecimal', JSON_BYTES.toString('hex'), ['hex', 'JSON']],
  [
    'base64 twice',
    Buffer.from(JSON_BYTES.toString('base64')).toString('base64'),
    ['base64url', 'base64url', 'JSON'],
  ],
  ['gzip', gzipSync(JSON_BYTES).toString('base64url'), ['base64url', 'gzip', 'JSON']],
  ['zlib', deflateSync(JSON_BYTES).toString('base64url'), ['base64url', 'zlib', 'JSON']],
  ['raw deflate', deflateRawSync(JSON_BYTES).toString('base64url'), ['base64url', 'deflate', 'JSON']],
  ['MessagePack', Buffer.from(encode(VALUE)).toString('base64url'), ['base64url', 'MessagePack']],
  ['a MAC behind it', Buffer.concat([JSON_BYTES, MAC]).toString('base64url'), ['base64url', 'JSON']],
  ['a MAC before it', Buffer.concat([MAC, JSON_BYTES]).toString('base64url'), ['base64url', 'JSON']],
] as const)('reads a state with %s, and writes another in its place (STATE-12)', ([, state, layers]) => {
  const [found] = peel(state);
  expect(found?.value).toEqual(VALUE);
  expect(found?.layers).toEqual(layers);
  expect(found?.withValue(found.value)).toBe(state);
  const [again] = peel(found?.withValue({ ...VALUE, round: 3 }) ?? '');
  expect(again?.value).toEqual({ ...VALUE, round: 3 });
});

test('reads the parts of a token, and leaves the others as they are', () => {
  const token = `v1.${JSON_BYTES.toString('base64url')}.${MAC.toString('base64url')}`;
  const [found, ...others] = peel(token);
  expect(others).toEqual([]);
  expect(found?.part).toBe(1);
  expect(found?.withValue({}).split('.')).toEqual(['v1', 'e30', MAC.toString('base64url')]);
});

test('reads a text that is no JSON', () => {
  const [found] = peel(Buffer.from('user=ann&round=2').toString('base64url'));
  expect(found).toMatchObject({ layers: ['base64url', 'text'], value: 'user=ann&round=2' });
});

test('finds nothing to read in ids', () => {
  for (const id of ['0d9c6ef6-2f6f-4b3f-9a3d-4a9d3c8f0a11', '42', '', 'abc.def', MAC.toString('hex')])
    expect(peel(id), id).toEqual([]);
});

test('finds nothing to read in what looks random', () => {
  for (let at = 0; at < 2000; at += 1) {
    const bytes = createHash('shake256', { outputLength: 20 + (at % 200) })
      .update(String(at))
      .digest();
    expect(peel(bytes.toString('base64url')), String(at)).toEqual([]);
  }
});

test('does not inflate without end', () => {
  expect(peel(gzipSync(Buffer.alloc(8 * 1024 * 1024, '[')).toString('base64'))).toEqual([]);
});

test('does not make room for what MessagePack only claims to hold, and does not go down without end', () => {
  const claims = Buffer.concat(Array.from({ length: 200 }, () => Buffer.from('dd01c9c380', 'hex')));
  expect(peel(Buffer.concat([Buffer.from('81a161', 'hex'), claims]).toString('base64url'))).toEqual([]);
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect(peel(Buffer.from(deep).toString('base64url')).map(({ layers }) => layers.at(-1))).not.toContain(
    'JSON',
  );
});
