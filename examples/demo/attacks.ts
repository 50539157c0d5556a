/** What can be tried with a state by somebody who holds it. Each attempt must fail, and look the same. */
import type { InputResponses } from '@modelcontextprotocol/client';
import type { RejectionReason } from 'mcp-parley';
import type { Call, Caller } from './driver.js';

/** One attempt to get something out of a state. */
export interface Attempt {
  readonly title: string;
  readonly by: Caller;
  readonly call: Call;
  /** The reason that must stand in the server's log, and nowhere else. */
  readonly reason: RejectionReason;
}

/** A call that waits for its answers: the honest way to go on with it, which the attempts then bend. */
export interface Loot {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly state: string;
  readonly answers: InputResponses;
}

/** The attempts that need no waiting. */
export function attempts(loot: Loot, alice: Caller, bob: Caller): readonly Attempt[] {
  return [
    {
      title: 'One character of the state is edited',
      by: alice,
      call: { ...loot, state: editOneCharacter(loot.state) },
      reason: 'authentication',
    },
    {
      title: 'It is replayed on another tool: rollback',
      by: alice,
      call: { ...loot, tool: 'rollback' },
      reason: 'request',
    },
    {
      title: 'It is replayed with other arguments: production for staging',
      by: alice,
      call: { ...loot, args: { ...loot.args, environment: 'production' } },
      reason: 'request',
    },
    {
      title: 'It is presented by somebody else: bob, through the same OAuth client',
      by: bob,
      call: loot,
      reason: 'principal',
    },
  ];
}

/** The bytes that a client gets when it decodes a state. */
export function decode(state: string): Buffer {
  return Buffer.from(state.slice(state.indexOf('.') + 1), 'base64url');
}

/** Far behind the head of the token, so in the midst of what is encrypted. */
function editOneCharacter(state: string): string {
  const at = Math.floor(state.length * 0.75);
  return state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1);
}
