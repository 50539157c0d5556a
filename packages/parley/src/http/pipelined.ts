import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Responses of a connection whose turn has not come, or has not been seen to end. */
const waiting = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Lets a response end with its connection when it waits there behind others, as a client makes it that sends requests
 * without waiting for responses (RFC 9112, 9.3.2). `node:http` tells only the one whose turn it is, so a handler would
 * not be aborted, and who counts the responses under way would count this one forever.
 */
export function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  // Null is what says that it waits; others have one, or are no response of `node:http`.
  if (response.socket !== null || response.destroyed) return;
  let responses = waiting.get(socket);
  if (responses === undefined) {
    responses = new Set();
    waiting.set(socket, responses);
    const all = responses;
    socket.once('close', () => all.forEach(end));
  }
  const among = responses.add(response);
  response.once('close', () => among.delete(response));
}

function end(response: ServerResponse): void {
  // Its turn has come: `node:http` tells it.
  if (response.socket !== null) return;
  response.destroy();
  response.emit('close');
}
