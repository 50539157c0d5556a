import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { EncryptJWT, jwtDecrypt } from 'jose';
import type { TokenCarrier } from '../../packages/parley/dist/carrier/index.js';
import { readEntry, type JournalEntry } from '../../packages/parley/dist/flow/index.js';
import { createSealer as createWebSealer } from '../../packages/parley/dist/seal/crypto.web.js';
import { randomBytes } from '../../packages/parley/dist/seal/index.js';
import { bind, bindText, newCarrier, SEALER_OPTIONS } from '../fixtures/parts.js';
import type { Operation, Row } from '../harness/row.js';

/** 2 KB of JSON: what a flow of some rounds holds. */
const JOURNAL: readonly JournalEntry[] = Array.from({ length: 12 }, (_, index) =>
  index % 2 === 0
    ? {
        type: 'step',
        key: `step-${index}`,
        value: {
          id: `job-${index}`,
          url: `https://ci.example.com/job/${index}`,
          seconds: 12.5,
          tags: ['a', 'b'],
          log: 'x'.repeat(30),
        },
      }
    : {
        type: 'answer',
        key: `question-${index}`,
        question: 'Zm9vYmFyYmF6cXV4Zm9vYm',
        answer: { action: 'accept', content: { region: 'eu-central-1', count: index, sure: true } },
      },
);
const ASKED = [{ key: 'go', digest: 'Zm9vYmFyYmF6cXV4Zm9vYm' }];

/** The journal goes in as entries and comes out as entries: writing and reading its texts counts. */
function parley(carrier: TokenCarrier): Operation {
  const flow = randomBytes(16);
  return async () => {
    const journal = JOURNAL.map((entry) => JSON.stringify(entry));
    const identity = carrier.begin(flow, {});
    const { token } = await carrier.seal({ kind: 'flow', asked: ASKED, journal }, identity, bind(), {});
    const opened = await carrier.open(token, bind);
    if (opened.state.kind !== 'flow') throw new Error('It did not open.');
    return opened.state.journal.map(readEntry);
  };
}

function sdkCodec(): Operation {
  const codec = createRequestStateCodec({ key: randomBytes(32), bind: bindText });
  const ctx = {} as ServerContext; // only handed on to `bind`
  return async () => codec.verify(await codec.mint({ asked: ASKED, journal: JOURNAL }, ctx), ctx);
}

async function jose(): Promise<Operation> {
  const key = await crypto.subtle.importKey('raw', randomBytes(32), 'AES-GCM', false, ['encrypt', 'decrypt']);
  return async () => {
    const jwt = await new EncryptJWT({ asked: ASKED, journal: JOURNAL })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime('10m')
      .setSubject(bindText())
      .encrypt(key);
    return jwtDecrypt(jwt, key, {
      subject: bindText(),
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
  };
}

export default {
  title: 'Seal and open a state with a journal of 2 KB',
  leavesOut: 'everything but the token: no flow is run, and no request is read',
  async measure(bench) {
    const scenario = 'seal + open, one after the other';
    const found = await bench.compare(scenario, {
      'parley (node:crypto)': parley(newCarrier()),
      'SDK codec with bind (HMAC, not encrypted)': sdkCodec(),
      'jose (dir, A256GCM)': await jose(),
      'parley (WebCrypto)': parley(newCarrier(createWebSealer(SEALER_OPTIONS))),
    });
    bench.judge(
      scenario,
      'the SDK codec takes as long as',
      found.ratio('SDK codec with bind (HMAC, not encrypted)'),
      {
        atLeast: 3,
        unit: 'x',
      },
    );
  },
} satisfies Row;
