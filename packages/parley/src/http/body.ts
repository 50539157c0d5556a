import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** What was read of a request's body. */
export interface ReadBody {
  /** In the order of their arrival. */
  readonly chunks: readonly Buffer[];
  /** Whether these are all. Otherwise the body is over the limit, and the request holds the rest. */
  readonly whole: boolean;
}

/**
 * Reads a body, up to a limit.
 *
 * @param maxBytes reading stops after the chunk that goes over it.
 * @throws what the request fails with, as when the client goes away.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const settle = (end: () => void): void => {
      request.off('data', take).off('end', finish).off('error', fail).off('close', fail);
      end();
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      received += chunk.length;
      if (received <= maxBytes) return;
      request.pause();
      settle(() => resolve({ chunks, whole: false }));
    };
    const finish = (): void => settle(() => resolve({ chunks, whole: true }));
    const fail = (error?: Error): void =>
      settle(() => reject(error ?? new Error('The client went away before its request was whole.')));
    request.on('data', take).on('end', finish).on('error', fail).on('close', fail);
  });
}

/** The JSON value that chunks of bytes hold. */
export type Parsed = { readonly json: unknown } | 'not plain JSON';

/**
 * Parses a whole body. Bytes that are no UTF-8 are left to the SDK's own reading, so that one decoder decides what
 * they become.
 */
export function parseJson(chunks: readonly Buffer[]): Parsed {
  const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  if (!isUtf8(bytes)) return 'not plain JSON';
  try {
    return { json: JSON.parse(bytes.toString('utf8')) as unknown };
  } catch {
    return 'not plain JSON';
  }
}
