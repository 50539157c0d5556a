import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { EncryptJWT, jwtDecrypt } from 'jose';
import type { TokenCarrier } from '../../packages/parley/dist/carrier/index.js';
import { readEntry, type JournalEntry } from '../../packages/parley/dist/flow/index.js';
import { createSealer as createWebSealer } from '../../packages/parley/dist/seal/crypto.web.js';
import { randomBytes } from '../../packages/parley/dist/seal/index.js';
import { bind, bindText, newCarrier, SEALER_OPTIONS } from '../fixtures/parts.js';
import type { Operation, Row } from '../harness/row.js';

/** Bytes of JSON, about. 2 KB is what a flow of some rounds holds; 48 KiB is the most that a token may have. */
const SIZES = [256, 1_024, 2_048, 8_192, 32_768];
const JUDGED = 2_048;

/** Steps and answers in turn, in about so many bytes of JSON. */
function journalOf(bytes: number): readonly JournalEntry[] {
  const journal: JournalEntry[] = [];
  for (let size = 0; size < bytes; size += JSON.stringify(journal.at(-1)).length) {
    journal.push(entryOf(journal.length));
  }
  return journal;
}

function entryOf(index: number): JournalEntry {
  return index % 2 === 0
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
      };
}
const SDK_CODEC = 'SDK codec with bind (HMAC, not encrypted)';
const ASKED = [{ key: 'go', digest: 'Zm9vYmFyYmF6cXV4Zm9vYm' }];

/** The journal goes in as entries and comes out as entries: writing and reading its texts counts. */
function parley(carrier: TokenCarrier, entries: readonly JournalEntry[]): Operation {
  const flow = randomBytes(16);
  return async () => {
    const journal = entries.map((entry) => JSON.stringify(entry));
    const identity = carrier.begin(flow, {});
    const { token } = await carrier.seal({ kind: 'flow', asked: ASKED, journal }, identity, bind(), {});
    const opened = await carrier.open(token, bind);
    if (opened.state.kind !== 'flow') throw new Error('It did not open.');
    return opened.state.journal.map(readEntry);
  };
}

function sdkCodec(journal: readonly JournalEntry[]): Operation {
  const codec = createRequestStateCodec({ key: randomBytes(32), bind: bindText });
  const ctx = {} as ServerContext; // only handed on to `bind`
  return async () => codec.verify(await codec.mint({ asked: ASKED, journal }, ctx), ctx);
}

async function jose(journal: readonly JournalEntry[]): Promise<Operation> {
  const key = await crypto.subtle.importKey('raw', randomBytes(32), 'AES-GCM', false, ['encrypt', 'decrypt']);
  return async () => {
    const jwt = await new EncryptJWT({ asked: ASKED, journal })
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
  title: 'Seal and open a state, one after the other, by the size of its journal',
  leavesOut: 'everything but the token: no flow is run, and no request is read',
  async measure(bench) {
    for (const at of bench.quick ? [JUDGED] : SIZES) {
      const journal = journalOf(at);
      const subjects: Record<string, Operation> = {
        'parley (node:crypto)': parley(newCarrier(), journal),
        [SDK_CODEC]: sdkCodec(journal),
        'jose (dir, A256GCM)': await jose(journal),
      };
      if (at === JUDGED) {
        subjects['parley (WebCrypto)'] = parley(newCarrier(createWebSealer(SEALER_OPTIONS)), journal);
      }
      const scenario = at < 1_024 ? `${at} bytes` : `${at / 1_024} KiB`;
      const found = await bench.compare(scenario, subjects, { at });
      if (at === JUDGED) {
        const target = { atLeast: 3, unit: 'x' } as const;
        bench.judge(scenario, 'the SDK codec takes as long as', found.ratio(SDK_CODEC), target);
      }
    }
  },
} satisfies Row;
