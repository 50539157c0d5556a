import type { AuditContext, Finding } from '../attack.js';
import type { Caller } from '../wire/message.js';
import { judge } from './judge.js';
import { inEachRound, tryAll } from './trials.js';

/** Sends the main caller's retries as another caller, in each round. */
export function asCaller(context: AuditContext, caller: Caller, what: string): Promise<readonly Finding[]> {
  return inEachRound(context, (pause) =>
    tryAll(
      context,
      pause,
      () => [{ what, changes: { caller } }],
      (at, exchange) => judge(context, at, exchange, { taken: 'critical', fresh: 'low' }),
    ),
  );
}
