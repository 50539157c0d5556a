import { StateRejected } from '../errors.js';
import { createSealer, encodeBase64url, sha256, type Sealer } from '../seal/index.js';
import type { TaskHost } from '../gate/index.js';

/** Longest text of a store, in characters: what a result may take, sealed. */
const MAX_TEXT = 64 * 1024 * 1024;

/** What a stored text is of its task. */
export type Part = 'head' | 'note' | 'parked' | 'outcome' | `answer ${string}` | `journal ${number}`;

/** Seals what a store holds, bound to the task and the part that it is: a text that was moved does not open. */
export class TaskSealer {
  readonly #sealer: Sealer;

  constructor({ keys, audience, runHost: { now } }: TaskHost) {
    this.#sealer = createSealer({ keys, audience: `${audience} tasks`, now, maxLength: MAX_TEXT });
  }

  async seal(id: string, part: Part, text: string): Promise<string> {
    return await this.#sealer.seal(new TextEncoder().encode(prefix(id, part) + text));
  }

  /** @throws StateRejected when it does not open, or is of something else. */
  async open(id: string, part: Part, sealed: string): Promise<string> {
    const { plaintext } = await this.#sealer.open(sealed);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plaintext);
    const start = prefix(id, part);
    if (!text.startsWith(start)) throw new StateRejected('claims');
    return text.slice(start.length);
  }
}

function prefix(id: string, part: Part): string {
  return `${id} ${part}\n`;
}

/** What a store knows a question's key on the wire by: keys are the author's words, and could tell something. */
export function wireDigest(id: string, wire: string): string {
  return encodeBase64url(sha256(`parley/v1 task wire\0${id} ${wire}`));
}

/** What a store knows a flow by. */
export function flowDigest(audience: string, flow: Uint8Array): string {
  return encodeBase64url(sha256(`parley/v1 task flow\0${JSON.stringify([audience, encodeBase64url(flow)])}`));
}
