import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { isFields, type Fields } from './forms.js';

/** What a state holds: where the flow stands, and for whom and what it was made. */
export interface FlowState {
  /** Of one flow. */
  readonly flow: string;
  /** The round whose questions are open, from 1 on. */
  readonly round: number;
  readonly method: string;
  readonly name: string;
  /** Of the arguments. */
  readonly digest: string;
  /** null: anonymous. */
  readonly user: string | null;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Contents of the answers so far, by key. */
  readonly settled: Fields;
}

/** Turns states into text and back. */
export interface Codec {
  encode(state: FlowState): string;
  /** Undefined: not one of ours. */
  decode(text: string): FlowState | undefined;
}

/** JSON with sorted keys, so that one value has one digest. */
export function digestOf(value: unknown): string {
  const sorted = JSON.stringify(value, (_key, member: unknown) =>
    isFields(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
  return createHash('sha256').update(sorted).digest('base64url');
}

/** AES-256-GCM under a key of its own; only the one text that was made opens. */
export function sealedCodec(key: Buffer = randomBytes(32)): Codec {
  return {
    encode(state) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const body = Buffer.concat([cipher.update(JSON.stringify(state)), cipher.final()]);
      return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
    },
    decode(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length < 29 || bytes.toString('base64url') !== text) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 });
      decipher.setAuthTag(bytes.subarray(-16));
      try {
        const body = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
        return JSON.parse(body.toString()) as FlowState;
      } catch {
        return undefined;
      }
    },
  };
}

/** Readable JSON in base64url; nothing protects it. */
export const plainCodec: Codec = {
  encode: (state) => Buffer.from(JSON.stringify(state)).toString('base64url'),
  decode(text) {
    try {
      const state: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
      return isFields(state) ? (state as unknown as FlowState) : undefined;
    } catch {
      return undefined;
    }
  },
};
