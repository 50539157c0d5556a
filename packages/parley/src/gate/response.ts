import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { StateRejected } from '../errors.js';
import type { Round } from './round.js';
import { ledgerError, WIRE_CODES } from './wire-errors.js';

/** How a round ended, as it is stored: what the client gets when it asks again. */
export type Response<T> =
  | { readonly result: T }
  | { readonly error: { readonly code: number; readonly message: string; readonly data: unknown } };

/**
 * Runs a round to an end that can be stored. A tool's error becomes the result that the SDK would make of it, and a
 * refusal of a prompt or resource its JSON-RPC error. What is no end (the ledger is away, the client is gone, the
 * request was at fault) is thrown: the round may be run again.
 */
export async function settled<T>(round: Round, run: () => Promise<T>): Promise<Response<T>> {
  try {
    return { result: await run() };
  } catch (error) {
    if (round.failure !== undefined || round.ctx.mcpReq.signal.aborted) throw error;
    if (error instanceof StateRejected || ledgerError(error) !== undefined) throw error;
    // The error of a handler by hand is JSON-RPC's already, and so is the one that the SDK passes on.
    const isRaw = round.opened?.state.kind === 'plain' || isUrlRequired(error);
    if (round.source.method === 'tools/call' && !isRaw) {
      const text = error instanceof Error ? error.message : String(error);
      return { result: { content: [{ type: 'text', text }], isError: true } as T };
    }
    if (!(error instanceof ProtocolError) || !isOurs(error.code)) throw error;
    return { error: { code: error.code, message: error.message, data: error.data } };
  }
}

function isUrlRequired(error: unknown): boolean {
  const code: number = ProtocolErrorCode.UrlElicitationRequired;
  return error instanceof ProtocolError && error.code === code;
}

function isOurs(code: number): boolean {
  return Object.values<number>(WIRE_CODES).includes(code);
}
