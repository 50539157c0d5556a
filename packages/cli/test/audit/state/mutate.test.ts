import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { editsOf, reencodingsOf } from '../../../src/audit/state/mutate.js';

const STATES = {
  base64url: Buffer.from(Array.from({ length: 40 }, (_, at) => 255 - at * 6)).toString('base64url'),
  'padded base64': Buffer.from(Array.from({ length: 40 }, (_, at) => 255 - at * 6)).toString('base64'),
  hexadecimal: Buffer.from('a state in hexadecimal').toString('hex'),
  'parts between dots': `v1.${Buffer.from('{"round":1}').toString('base64url')}.${Buffer.from('sixteen bytes ok').toString('base64url')}`,
  'plain JSON': '{"round":1,"user":"ann"}',
  'a short text': 'a1',
};

/** What a lenient decoder makes of a state. */
function bytesOf(state: string): string {
  return state
    .split('.')
    .map((part) => (/^[\da-f]+$/.test(part) ? part : Buffer.from(part, 'base64url').toString('hex')))
    .join('.');
}

describe('edits (STATE-02)', () => {
  test.for(Object.entries(STATES))('of %s are each another text, and none is the state', ([, state]) => {
    const edits = editsOf(state).map((edit) => edit.state);
    expect(new Set(edits).size).toBe(edits.length);
    expect(edits).not.toContain(state);
    expect(edits).toContain('');
  });

  test.for(['base64url', 'padded base64', 'hexadecimal', 'parts between dots'] as const)(
    'that flip bits in %s change the bytes, whoever decodes them',
    (kind) => {
      const flips = editsOf(STATES[kind]).filter(({ what }) => what.includes('flipped'));
      expect(flips.length).toBeGreaterThan(10);
      for (const { what, state } of flips) expect(bytesOf(state), what).not.toBe(bytesOf(STATES[kind]));
    },
  );

  test('flip a byte by one bit, and write it in the same encoding', () => {
    const { state = '' } =
      editsOf(STATES.hexadecimal).find(({ what }) => what.startsWith('a bit of byte 1 ')) ?? {};
    expect(Buffer.from(state, 'hex').toString()).toBe('` state in hexadecimal');
  });

  test('reach each part, and leave each out', () => {
    const edits = editsOf(STATES['parts between dots']).map(({ what }) => what);
    for (const part of [1, 2, 3]) {
      expect(edits).toContain(`part ${part} emptied`);
      expect(edits).toContain(`a bit of the first character of part ${part} flipped`);
    }
  });

  test("mix two flows, but never to either's own state", () => {
    const edits = editsOf('v1.aaaa.bbbb', 'v1.cccc.dddd');
    const mixed = edits.filter(({ what }) => what.includes('another flow')).map(({ state }) => state);
    expect(mixed).toEqual(['v1.aaaa.bbbbv1.cccc.dddd', 'v1.cccc.bbbb', 'v1.aaaa.dddd']);
    expect(editsOf('v1.aaaa', 'v1.cccc').map(({ state }) => state)).not.toContain('v1.cccc');
  });
});

describe('re-encodings (STATE-08)', () => {
  test.for([16, 17, 18, 31])('of %i random bytes decode to these bytes', (length) => {
    const bytes = randomBytes(length);
    for (const encoding of ['base64url', 'base64', 'hex'] as const) {
      const state = bytes.toString(encoding);
      for (const { what, state: other } of reencodingsOf(state)) {
        expect(other).not.toBe(state);
        const trimmed = encoding === 'hex' ? other.replaceAll(/[\s=]/g, '') : other;
        expect(Buffer.from(trimmed, encoding), what).toEqual(bytes);
      }
    }
  });
});
