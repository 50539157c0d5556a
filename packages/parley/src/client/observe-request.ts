import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { isObject } from './json.js';

/*
 * The official client says of a request that failed neither whether it was handed to the transport nor what came
 * back: it keeps a result of an extension to itself, and one that does not fit the output schema of its tool. It has
 * no hook for either. So both are looked at where they pass, by the two public members of its transport, for as long
 * as such a request is under way. Nothing is changed, held back or added on the wire. To which request a message
 * belongs is told by a symbol among its parameters, which the client passes on, and which no JSON holds.
 */

/** What is known of one request. */
export interface Observation {
  /** To be spread into its parameters. */
  readonly mark: object;
  /** Whether it may have been handed to the transport. `false` is certain. */
  isOut(): boolean;
  /** The latest result as it stood on the wire. None where there is none, or the latest answer is an error. */
  result(): unknown;
  /** Ends it. */
  stop(): void;
}

const MARK = Symbol('parley');

interface Watched {
  readonly method: string;
  readonly ids: Set<unknown>;
  isOut: boolean;
  result?: unknown;
}

/** What is in place on a transport. */
interface Tap {
  readonly open: Set<Watched>;
  readonly remove: () => void;
}

const taps = new WeakMap<Transport, Tap>();

/** Observes the request of this method that will be sent with the mark. */
export function observeRequest(transport: Transport, method: string): Observation {
  const tap = taps.get(transport) ?? install(transport);
  const watched: Watched = { method, ids: new Set(), isOut: false };
  tap.open.add(watched);
  return {
    mark: { [MARK]: watched },
    isOut: () => watched.isOut,
    result: () => watched.result,
    stop() {
      tap.open.delete(watched);
      if (tap.open.size === 0) tap.remove();
    },
  };
}

function install(transport: Transport): Tap {
  const open = new Set<Watched>();
  const { onmessage } = transport;
  const send = transport.send.bind(transport);
  const ownSend = Object.getOwnPropertyDescriptor(transport, 'send');
  const observedSend: Transport['send'] = (message, options) => {
    if ('method' in message && 'id' in message) noteOut(open, message);
    return send(message, options);
  };
  const observedMessage: Transport['onmessage'] = (message, extra) => {
    if ('result' in message || 'error' in message) noteAnswer(open, message);
    onmessage?.(message, extra);
  };
  Object.assign(transport, { send: observedSend, onmessage: observedMessage });
  const tap = {
    open,
    // Somebody may have put something on top in the meantime. Then it stays below, and sees nothing any more.
    remove() {
      taps.delete(transport);
      if (transport.onmessage === observedMessage) Object.assign(transport, { onmessage });
      if (Object.getOwnPropertyDescriptor(transport, 'send')?.value !== observedSend) return;
      if (ownSend === undefined) Reflect.deleteProperty(transport, 'send');
      else Object.defineProperty(transport, 'send', ownSend);
    },
  };
  taps.set(transport, tap);
  return tap;
}

function noteOut(open: ReadonlySet<Watched>, message: Extract<JSONRPCMessage, { method: string }>): void {
  const params: unknown = message.params;
  const marked = isObject(params) ? (params as { readonly [MARK]?: Watched })[MARK] : undefined;
  // The client may send one request twice, under two ids: when it had headers that do not belong.
  if (marked !== undefined && 'id' in message) marked.ids.add(message.id);
  for (const watched of open) {
    // One without a mark may be any of them, should a client ever lose it. Then nothing is certain.
    if (watched === marked || (marked === undefined && watched.method === message.method))
      watched.isOut = true;
  }
}

function noteAnswer(open: ReadonlySet<Watched>, message: Exclude<JSONRPCMessage, { method: string }>): void {
  for (const watched of open) {
    if (watched.ids.has(message.id)) watched.result = 'result' in message ? message.result : undefined;
  }
}
