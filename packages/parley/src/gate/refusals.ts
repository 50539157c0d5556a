import type { ProtocolError } from '@modelcontextprotocol/server';
import { StateRejected } from '../errors.js';
import { BindingFailed } from './binding.js';
import type { EventSource } from './events.js';
import type { GateHost } from './gate-parts.js';
import { internalError, invalidRequestState, ledgerError, unbindableArguments } from './wire-errors.js';

/** Makes of what went wrong in the gate what the client may see of it; the rest is for the log and the listeners. */
export class Refusals {
  readonly #host: GateHost;

  constructor(host: GateHost) {
    this.#host = host;
  }

  /** A state that is not taken. Tells the log and the listeners why, and the client nothing. */
  ofState(source: EventSource, error: unknown): ProtocolError {
    const unavailable = ledgerError(error);
    if (unavailable !== undefined) return unavailable;
    if (!(error instanceof StateRejected) && !(error instanceof BindingFailed)) {
      this.#host.settings.logger.warn(`parley: opening a requestState failed: ${describe(error)}`);
      return internalError();
    }
    const reason = error instanceof BindingFailed ? error.part : error.reason;
    this.#host.events.emit('rejected', () => ({ ...source, reason }));
    this.#host.rejections.note(source, reason, error.cause);
    return invalidRequestState();
  }

  /** A request that has no state yet and cannot be bound to one: it is at fault, or the server is. */
  ofBinding(source: EventSource, error: unknown): unknown {
    if (!(error instanceof BindingFailed)) return error;
    if (error.part === 'request') return unbindableArguments(error.cause);
    this.#host.rejections.note(source, 'principal', error.cause);
    return internalError();
  }

  /** What goes out as a JSON-RPC error, past the SDK's wrapping of tools; any other error as it is. */
  ofRound(source: EventSource, error: unknown): unknown {
    if (error instanceof StateRejected) return this.ofState(source, error);
    return ledgerError(error) ?? error;
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
