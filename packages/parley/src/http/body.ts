import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** What was read of a request's body. */
export interface ReadBody {
  /** In the order of their arrival. */
  readonly chunks: readonly Buffer[];
  /** Whether these are all. Otherwise the request holds the rest, or fails, when it is read on. */
  readonly whole: boolean;
}

/**
 * Reads a body, up to a limit. Never rejects: a client that goes away in the middle leaves a body that is not whole.
 *
 * @param maxBytes reading stops after the chunk that goes over it.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  // Somebody was here before, and the events that end the reading below will not come again.
  if (request.readableEnded || request.destroyed)
    return Promise.resolve({ chunks: [], whole: request.readableEnded });
  // Somebody made a stream of text of it: there are no bytes to be had.
  if (typeof request.readableEncoding === 'string') return Promise.resolve({ chunks: [], whole: false });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const settle = (whole: boolean): void => {
      request.off('data', take).off('end', finish).off('error', fail).off('close', fail);
      resolve({ chunks, whole });
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      received += chunk.length;
      if (received <= maxBytes) return;
      request.pause();
      settle(false);
    };
    const finish = (): void => settle(true);
    const fail = (): void => settle(false);
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
