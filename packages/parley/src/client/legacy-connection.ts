import {
  SdkError,
  SdkErrorCode,
  type Client,
  type JSONRPCMessage,
  type RequestOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { ConfigurationError, ConnectionBusy } from '../errors.js';
import { hasNotLeft } from './not-left.js';
import { isTurnedAway } from './send.js';

/*
 * What is known of a connection of 2025-11-25 beside what the client knows: whose turn it is, and which requests of
 * driven calls have no response yet. The client forgets a request as soon as it is cancelled or timed out; the server
 * may not, and what it asks for it later looks like any other question. So messages are looked at where they pass, by
 * the public members of the transport. Nothing is changed, held back or added.
 */

/** How a request is told from others of the same client: options are passed on as they are. */
type Mark = NonNullable<RequestOptions['onresumptiontoken']>;

/** A place in the row of calls. */
export interface Turn {
  /** Resolves when it is there; never rejects. */
  readonly begins: Promise<void>;
  /** Lets the next one begin. */
  end(): void;
}

/** Requests of one call, as they pass. */
export interface Passage {
  /** Goes with each of its requests. */
  readonly mark: Mark;
  /** Ends it. What has no response yet stays open. */
  end(): void;
}

const connections = new WeakMap<Transport, LegacyConnection>();

/** One connection. A client that connects anew has another. */
export class LegacyConnection {
  readonly #transport: Transport;
  readonly #open = new Set<number>();
  readonly #passages = new Map<Mark, (error: Error) => void>();
  #last: Promise<void> = Promise.resolve();

  private constructor(transport: Transport) {
    this.#transport = transport;
    const send = transport.send.bind(transport);
    const { onmessage } = transport;
    const observedSend: Transport['send'] = (message, options) => {
      const mark = options?.onresumptiontoken;
      const onLost = mark && this.#passages.get(mark);
      if (onLost !== undefined && isRequest(message)) {
        return this.#request(Number(message.id), onLost, (onRequestStreamEnd) =>
          send(message, { ...options, onRequestStreamEnd }),
        );
      }
      const sending = send(message, options);
      if (isResponse(message)) sending.catch((error: Error) => this.#lose(error));
      return sending;
    };
    const observedMessage: Transport['onmessage'] = (message, extra) => {
      if (isResponse(message)) this.#open.delete(Number(message.id));
      onmessage?.(message, extra);
    };
    Object.assign(transport, { send: observedSend, onmessage: observedMessage });
  }

  /** @throws ConfigurationError when there is none. */
  static of({ transport }: Client): LegacyConnection {
    if (transport === undefined) throw new ConfigurationError('The client is not connected.');
    const known = connections.get(transport) ?? new LegacyConnection(transport);
    connections.set(transport, known);
    return known;
  }

  /** One driven call at a time. */
  takeTurn(): Turn {
    const begins = this.#last;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => void (end = resolve));
    this.#last = begins.then(() => ended);
    return { begins, end };
  }

  /**
   * Whether a call may begin here, whose turn it is.
   *
   * @throws ConnectionBusy while a call has no response that ended here.
   * @throws SdkError as for calls under way, when the client has left this connection.
   */
  requireFree(client: Client): void {
    if (client.transport !== this.#transport) {
      throw new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed');
    }
    if (this.#open.size > 0) throw new ConnectionBusy();
  }

  /** Follows the requests of a call. `onLost` is told when no response can come any more, or no answer gets there. */
  follow(onLost: (error: Error) => void): Passage {
    const mark: Mark = () => undefined;
    this.#passages.set(mark, onLost);
    return { mark, end: () => void this.#passages.delete(mark) };
  }

  async #request(
    id: number,
    onLost: (error: Error) => void,
    send: (onStreamEnd: () => void) => Promise<void>,
  ): Promise<void> {
    this.#open.add(id);
    try {
      await send(() => {
        // The stream ends after a response too.
        if (!this.#open.has(id)) return;
        onLost(new SdkError(SdkErrorCode.ConnectionClosed, 'The stream ended without a response'));
      });
    } catch (error) {
      if (wasNotTaken(error)) this.#open.delete(id);
      throw error;
    }
  }

  #lose(error: Error): void {
    for (const onLost of this.#passages.values()) onLost(error);
  }
}

/** Whether an error of the transport says that the server never took a request up. */
export function wasNotTaken(error: unknown): boolean {
  return isTurnedAway(error) || hasNotLeft(error);
}

function isRequest(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { method: string; id: unknown }> {
  return 'method' in message && 'id' in message;
}

function isResponse(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { result: unknown } | { error: unknown }> {
  return 'result' in message || 'error' in message;
}
