/** What somebody who holds a state can try with it. Each attempt must fail, and look the same as the others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RejectionReason } from 'mcp-parley';
import { answerAll, bySelf } from './answers.js';
import type { Call, Caller } from './driver.js';
import { watch, type Stage } from './stage.js';

/** The life of a rollback's question in server.ts, and a little more. */
const ROLLBACK_TTL_MS = 1_000 + 50;

const STAGING = { service: 'shop', environment: 'staging' };
const PRODUCTION = { service: 'shop', environment: 'production' };

/** A state, and what must not be readable in it. */
export interface Sealed {
  readonly state: string;
  readonly secrets: readonly string[];
}

/** One attempt to get something out of a state. */
interface Attempt {
  readonly title: string;
  readonly by: Caller;
  readonly call: Call;
  /** The reason that must stand in the server's log, and nowhere else. */
  readonly reason: RejectionReason;
}

/** Shows what a state tells whoever holds it. */
export function tellWhatIsReadable({ report }: Stage, { state, secrets }: Sealed): void {
  report.section(2, 'What an attacker gets');
  report.say('All memory of a call is with the client, as in the state of round 2:');
  report.list([`${state.slice(0, 52)}… ${state.length} characters`]);
  report.gap();
  const bytes = Buffer.from(state.slice(state.indexOf('.') + 1), 'base64url');
  const hidden = secrets.every((secret) => !bytes.includes(secret) && !state.includes(secret));
  const named = secrets.map((secret) => `"${secret}"`).join(' nor ');
  report.check(hidden, `Nothing to read: its ${bytes.length} bytes hold neither ${named} in the clear.`);
}

/** Tries all attacks, and then the honest way. */
export async function tellAttacks(stage: Stage): Promise<void> {
  const { report, fleet, alice, bob } = stage;
  report.say('alice begins two more calls, and gets a state for each. Somebody tampers:');
  const honest = await begin(alice, { tool: 'deploy', args: STAGING });
  const stale = await begin(alice, { tool: 'rollback', args: STAGING });
  const expires = performance.now() + ROLLBACK_TTL_MS;

  const attempts: readonly Attempt[] = [
    {
      title: 'One character of the state is edited',
      by: alice,
      call: { ...honest, state: editOneCharacter(honest.state) },
      reason: 'authentication',
    },
    {
      title: 'It is replayed on another tool: rollback',
      by: alice,
      call: { ...honest, tool: 'rollback' },
      reason: 'request',
    },
    {
      title: 'It is replayed with other arguments: production for staging',
      by: alice,
      call: { ...honest, args: PRODUCTION },
      reason: 'request',
    },
    {
      title: 'It is presented by somebody else: bob, through the same OAuth client',
      by: bob,
      call: honest,
      reason: 'principal',
    },
  ];
  const late: Attempt = {
    title: 'It comes too late: a rollback waits one second',
    by: alice,
    call: stale,
    reason: 'expired',
  };

  const ranBefore = fleet.count('suspended', 'completed');
  const views: string[] = [];
  for (const attempt of attempts) views.push(await tryOut(stage, attempt));
  await sleep(Math.max(0, expires - performance.now()));
  views.push(await tryOut(stage, late));

  report.gap();
  report.check(new Set(views).size === 1, 'The client got the same answer every time, and cannot tell why.');
  const ran = fleet.count('suspended', 'completed') - ranBefore;
  report.check(ran === 0, 'No tool ran: a state is opened before anything else.');
  const { round } = await watch(stage, alice, honest);
  report.check(round.type === 'asks', 'The very same state, untouched and from alice, goes on.');
}

/** Begins a call, and gives the request that would go on with it. */
async function begin(caller: Caller, call: Call): Promise<Call & { readonly state: string }> {
  const round = await caller.send(call);
  if (round.type !== 'asks') throw new Error(`${call.tool} was expected to ask something.`);
  return { ...call, state: round.state, answers: await answerAll(round.asks, bySelf) };
}

/** Makes one attempt, and gives the client's whole view of its outcome. */
async function tryOut(stage: Stage, { title, by, call, reason }: Attempt): Promise<string> {
  const { report } = stage;
  const { round, lines } = await watch(stage, by, call);
  const logged = lines.find(({ event }) => event === 'rejected');
  const of = (field: string): string => String(logged?.[field]);
  const { port: _port, ms: _ms, ...view } = round;

  const refused = round.type === 'refused' && round.code === -32_602;
  report.check(refused && logged?.['reason'] === reason, title);
  report.row('client', round.type === 'refused' ? `${round.code} ${round.message}` : `gets a ${round.type}`);
  report.row('server log', `rejected: ${of('reason')} (${of('method')} ${of('target')})`);
  return JSON.stringify(view);
}

/** Far behind the head of the token, so in the midst of what is encrypted. */
function editOneCharacter(state: string): string {
  const at = Math.floor(state.length * 0.75);
  return state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1);
}
