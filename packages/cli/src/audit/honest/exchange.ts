import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../attack.js';
import { outcomeOf } from '../outcome.js';
import type { Wire, WireRequest } from '../wire/message.js';

const TOO_MANY_REQUESTS = 429;

/** How often a request is sent that the server has no time for. */
const MOST_TIMES = 4;

/** How long to wait for such a server where it does not say, and at most, in ms. */
const PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 3000;

/**
 * Sends, and says what came of it. A server that has too many requests is asked again later: it has judged nothing, and
 * a refusal to look is not to be taken for anything else.
 */
export async function exchange(wire: Wire, request: WireRequest): Promise<Exchange> {
  for (let time = 1; ; time += 1) {
    const reply = await wire.send(request);
    const isOver = reply.status !== TOO_MANY_REQUESTS || time >= MOST_TIMES;
    if (isOver) return { request, reply, outcome: outcomeOf(reply) };
    await sleep(Math.min(reply.retryAfterMs ?? PAUSE_MS * time, LONGEST_PAUSE_MS), undefined, { ref: false });
  }
}
