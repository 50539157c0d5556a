import { createCipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseKeys } from '../../src/seal/keyring.js';
import { createSealer, decodeClaims } from '../../src/seal/index.js';
import { claimsOf, hex, vectors } from './vectors.js';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('vectors.json', () => {
  it('says that its keys are test keys', () => {
    expect(read('vectors.json').slice(0, 60)).toContain('TEST KEYS');
  });

  it('is what docs/token-format.md shows', () => {
    const block = /```json\n([^]*?)```/.exec(read('../../../../docs/token-format.md'))?.[1];
    expect(JSON.parse(block ?? '')).toEqual(JSON.parse(read('vectors.json')));
  });

  it.each(vectors.tokens)('"$name" follows the formulas of the specification, step by step', (vector) => {
    const root = parseKeys(vector.root)[0]?.root ?? new Uint8Array();
    const K = Buffer.from(hkdfSync('sha512', root, '', `parley/v1\0${vector.audience}`, 64));
    const kid = createHash('sha256').update('kid\0').update(K).digest().subarray(0, 4);
    const okm = createHmac('sha512', K).update('parley1 key+commit\0').update(hex(vector.salt)).digest();
    const cipher = createCipheriv('aes-256-gcm', okm.subarray(0, 32), hex(vector.nonce));
    cipher.setAAD(Buffer.concat([Buffer.from('parley1.'), kid]));
    const ciphertext = Buffer.concat([cipher.update(hex(vector.plaintext)), cipher.final()]);
    const frame = [
      kid,
      hex(vector.salt),
      hex(vector.nonce),
      okm.subarray(32),
      ciphertext,
      cipher.getAuthTag(),
    ];
    expect(K.toString('hex')).toBe(vector.K);
    expect(kid.toString('hex')).toBe(vector.kid);
    expect(okm.toString('hex')).toBe(vector.key + vector.commit);
    expect(`parley1.${Buffer.concat(frame).toString('base64url')}`).toBe(vector.token);
  });

  it('a token with claims opens to these claims, by the entry that others use', async () => {
    const vector = vectors.tokens.find((one) => one.name === 'claims') ?? expect.fail('no such vector');
    const sealer = createSealer({ keys: parseKeys(vector.root), audience: vector.audience, now: () => 0 });
    const { plaintext } = await sealer.open(vector.token);
    const flow = vectors.claims.find((one) => one.name === 'flow') ?? expect.fail('no such vector');
    expect(decodeClaims(plaintext)).toEqual(claimsOf(flow));
  });
});
