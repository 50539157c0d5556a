/**
 * Stands on the wire behind all faults, and sees every response, also those that no client ever gets. Every result
 * for one request of a sealed round must be the same, byte for byte: the round was answered once.
 */
import { createHash } from 'node:crypto';
import { readReply } from './client.js';

/** A request as it passed, and what came for it. */
export interface Passage {
  readonly path: string;
  readonly bearer: string;
  readonly body: string;
  readonly status: number;
  readonly text: string;
}

/** Compares responses to the same request. */
export class Witness {
  readonly #results = new Map<string, string>();
  readonly #onConflict: (detail: string) => void;
  /** Results that were the same as an earlier one. */
  same = 0;

  constructor(onConflict: (detail: string) => void) {
    this.#onConflict = onConflict;
  }

  see({ path, bearer, body, status, text }: Passage): void {
    // A first request begins a flow each time that it comes.
    if (!body.includes('"requestState":') || readReply(status, text).type !== 'result') return;
    const request = digest(path, bearer, body);
    const result = digest(text);
    const known = this.#results.get(request);
    if (known === undefined) this.#results.set(request, result);
    else if (known === result) this.same += 1;
    else this.#onConflict(`a second result for one request of a round: ${text.slice(0, 300)}`);
  }
}

function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url');
}
