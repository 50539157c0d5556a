import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { AnswerInvalid, InputRefused, LedgerUnavailable, RoundBusy, Uncanonical } from '../errors.js';
import type { Round } from './round.js';

/**
 * Codes of our own, for prompts and resources, which have no error result as tools do. They stand outside
 * -32768..-32000, where applications belong (basic/index, "Error Codes"; CORE-18).
 */
export const WIRE_CODES = {
  /** The person declined or cancelled a question that the request cannot do without. */
  inputRefused: 7001,
  /** No usable answer came in `limits.attempts` rounds. */
  answerInvalid: 7002,
  /** The same round is still being worked on; the same request may be sent again. */
  roundBusy: 7003,
} as const;

/** The one answer to every state that is not accepted: the same bytes whatever was wrong (GAP-01, STATE-16). */
export function invalidRequestState(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });
}

/** The answer when the server cannot go on and the reason is nobody's business. */
export function internalError(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
}

/** What the ledger's absence, or somebody else's work, means on the wire; undefined for any other error. */
export function ledgerError(error: unknown): ProtocolError | undefined {
  if (error instanceof LedgerUnavailable) {
    return new ProtocolError(
      ProtocolErrorCode.InternalError,
      'Temporarily unavailable: what makes this request safe cannot be reached. Send the same request again.',
      { reason: 'unavailable' },
    );
  }
  if (error instanceof RoundBusy) {
    return new ProtocolError(WIRE_CODES.roundBusy, error.message, { reason: error.code });
  }
  return undefined;
}

/** Arguments that have no canonical form cannot be bound to a state. */
export function unbindableArguments(cause: unknown): ProtocolError {
  const reason = cause instanceof Uncanonical ? cause.message : 'they have no canonical form.';
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Arguments cannot be bound to a state: ${reason}`,
  );
}

/**
 * How the failure of a flow goes out. A tool's is left as it is: the SDK makes a tool error of it. Prompts
 * and resources have no error result, so there it is a JSON-RPC error.
 */
export function asHandlerError({ source }: Round, error: unknown): unknown {
  if (source.method === 'tools/call') return error;
  if (error instanceof InputRefused) {
    return new ProtocolError(WIRE_CODES.inputRefused, error.message, {
      reason: error.code,
      action: error.action,
    });
  }
  if (error instanceof AnswerInvalid) {
    return new ProtocolError(WIRE_CODES.answerInvalid, error.message, { reason: error.code });
  }
  return error;
}
