import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as node from '../../src/seal/crypto.node.js';
import * as web from '../../src/seal/crypto.web.js';
import { sealerSuite } from './sealer-suite.js';

sealerSuite('WebCrypto', web, node);

it('WebCrypto: has the same names as the one for Node, and imports nothing of Node', () => {
  expect(Object.keys(web).toSorted()).toEqual(Object.keys(node).toSorted());
  const source = readFileSync(new URL('../../src/seal/crypto.web.ts', import.meta.url), 'utf8');
  expect(source).not.toMatch(/from 'node:|Buffer/);
});

it('WebCrypto: seals calls at the same time with nonces of their own', async () => {
  const sealer = web.createSealer({
    keys: [{ root: web.sha256('TEST KEY'), activateAt: 0 }],
    audience: 'releases',
    now: () => 0,
  });
  const tokens = await Promise.all(Array.from({ length: 50 }, async () => sealer.seal(new Uint8Array(8))));
  expect(new Set(tokens.map((token) => token.slice(8 + 28, 8 + 42))).size).toBe(50);
});
