import type { Client } from '@modelcontextprotocol/client';
import { ConfigurationError } from '../errors.js';
import { isAskedFor } from './asked-within.js';
import { unlessAborted } from './ask.js';
import { LegacyCall, type LegacyOptions } from './legacy-call.js';
import { LegacyConnection } from './legacy-connection.js';
import type { DrivenRequest, DrivenResult } from './request.js';
import { firstFailure } from './send.js';

/*
 * Servers of 2025-11-25 and earlier ask with requests of their own, while the call that they serve is open. Such a
 * request does not say which call it belongs to. So a connection of that kind serves one driven call at a time, the
 * others wait their turn, and the driver's handlers are the client's for that long. A call that ended here, and not at
 * the server, keeps the next one from beginning: what the server asks for it yet would be put to whom it is not for.
 */

/**
 * Drives a call whose questions come as requests.
 *
 * @throws ConnectionBusy when an earlier call on the connection has no response yet.
 * @throws ConfigurationError when the client has handlers of its own, or one of ours calls from within a question.
 */
export async function driveLegacy(
  client: Client,
  request: DrivenRequest,
  options: LegacyOptions,
): Promise<DrivenResult> {
  const connection = LegacyConnection.of(client);
  if (isAskedFor(connection)) {
    throw new ConfigurationError(
      'A handler drives a call on the connection on which its own call waits for the answer. A connection of ' +
        '2025-11-25 serves one driven call at a time: give the inner call a client of its own.',
    );
  }
  const turn = connection.takeTurn();
  let call: LegacyCall | undefined;
  try {
    await unlessAborted(() => turn.begins, options.signal).catch((error: unknown) => {
      throw firstFailure(error, options.signal);
    });
    connection.requireFree(client);
    call = new LegacyCall(client, request, options, connection);
    return await call.run();
  } finally {
    void (call?.settled() ?? Promise.resolve()).then(() => turn.end());
  }
}
