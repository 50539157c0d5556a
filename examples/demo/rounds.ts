/** The story: one call in three rounds, a server killed in the middle, and what an attacker gets. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { InputRequests, InputResponses } from '@modelcontextprotocol/client';
import { generateKey } from 'mcp-parley';
import { bySelf, type Answerer } from './answers.js';
import { attempts, decode, type Attempt } from './attacks.js';
import { Caller, type Call, type Round } from './driver.js';
import { Fleet, type LogLine, type ServerProcess } from './fleet.js';
import { startProxy } from './proxy.js';
import type { Report } from './report.js';

/** The life of a rollback's question in server.ts, and a little more. */
const ROLLBACK_TTL_MS = 1_000 + 50;

const SHOP = { service: 'shop', environment: 'production' };
const SHOP_STAGING = { service: 'shop', environment: 'staging' };

/** Everything that runs, and where to tell of it. */
interface Stage {
  readonly report: Report;
  readonly answer: Answerer;
  readonly fleet: Fleet;
  readonly alice: Caller;
  readonly bob: Caller;
}

/** Tells the story. What did not go as promised is in the report afterwards. */
export async function tellRounds(report: Report, answer: Answerer): Promise<void> {
  report.title('Parley: tools that ask in the middle of a call, on servers that forget it');
  report.say('Starting two server processes. They share one key and nothing else.');
  const fleet = new Fleet(['A', 'B'], { PARLEY_KEYS: generateKey() });
  const ports = await fleet.ports();
  const proxy = await startProxy(ports);
  const url = `http://127.0.0.1:${proxy.port}/mcp`;
  const alice = await Caller.connect(url, 'alice');
  const bob = await Caller.connect(url, 'bob');
  try {
    for (const [index, { name, pid }] of fleet.servers.entries()) {
      report.row(`server ${name}`, `127.0.0.1:${ports[index]}, pid ${pid}`);
    }
    report.row('proxy', `127.0.0.1:${proxy.port}, round robin, no sticky sessions`);
    report.row('client', `the official one, MCP ${alice.protocol}`);
    const stage = { report, answer, fleet, alice, bob };
    const readable = await threeRounds(stage);
    if (readable !== undefined) await whatAnAttackerGets(stage, readable);
    closing(report);
  } finally {
    await Promise.allSettled([alice.close(), bob.close()]);
    proxy.close();
    fleet.end();
  }
}

/** What was sealed, and what of it must not be readable. */
interface Sealed {
  readonly state: string;
  readonly secrets: readonly string[];
}

async function threeRounds(stage: Stage): Promise<Sealed | undefined> {
  const { report, answer, fleet } = stage;
  report.section(1, 'One call, three rounds, two processes, one of them killed');
  report.say(`alice calls deploy(${asText(SHOP)}).`);

  const first = await playRound(stage, 1, { tool: 'deploy', args: SHOP });
  if (!asks(report, first, ['where', 'how'])) return undefined;
  const chosen = await takeAnswers(stage, first.round.asks, answer);
  report.expect(first.built !== undefined, 'The build ran in round 1.');

  const second = await playRound(stage, 2, {
    tool: 'deploy',
    args: SHOP,
    state: first.round.state,
    answers: chosen,
  });
  if (!asks(report, second, ['go'])) return undefined;
  report.expect(second.server !== first.server, 'Round 2 reached another process than round 1.');
  const go = await takeAnswers(stage, second.round.asks, answer);

  await second.server.kill();
  report.alarm(`Server ${second.server.name} (pid ${second.server.pid}) is killed: SIGKILL, no goodbye.`);
  report.expect(!second.server.alive, 'The killed server is gone.');

  const third = await playRound(stage, 3, {
    tool: 'deploy',
    args: SHOP,
    state: second.round.state,
    answers: go,
  });
  const { round } = third;
  const build = String(first.built?.['id']);
  const region = String(contentOf(chosen, 'where')['region']);
  const confirmed = contentOf(go, 'go')['confirm'] === true;
  const ending = round.type === 'result' && !round.failed ? round.text : '';
  const ended = confirmed ? ending.includes(build) && ending.includes(region) : ending === 'Not deployed.';

  report.gap();
  report.check(
    ended,
    `The call ended on server ${third.server.name}, which never saw the answers of round 2.`,
  );
  report.check(fleet.count('built') === 1, `The build ran ${times(fleet.count('built'))}, in three rounds.`);
  return { state: second.round.state, secrets: [build, region] };
}

async function whatAnAttackerGets(stage: Stage, { state, secrets }: Sealed): Promise<void> {
  const { report, fleet, alice, bob } = stage;
  report.section(2, 'What an attacker gets');
  report.say('All memory of a call is with the client, as in the state of round 2:');
  report.list([`${state.slice(0, 52)}… ${state.length} characters`, '']);
  const bytes = decode(state);
  const hidden = secrets.every((secret) => !bytes.includes(secret) && !state.includes(secret));
  const named = secrets.map((secret) => `"${secret}"`).join(' nor ');
  report.check(hidden, `Nothing to read: its ${bytes.length} bytes hold neither ${named} in the clear.`);

  report.say('alice begins two more calls, and gets a state for each. Somebody plays with them:');
  const deploy = await alice.send({ tool: 'deploy', args: SHOP_STAGING });
  const rollback = await alice.send({ tool: 'rollback', args: SHOP_STAGING });
  const expires = Date.now() + ROLLBACK_TTL_MS;
  if (deploy.type !== 'asks' || rollback.type !== 'asks') {
    report.check(false, 'Both calls ask something.');
    return;
  }
  const loot = {
    tool: 'deploy',
    args: SHOP_STAGING,
    state: deploy.state,
    answers: await bySelf(deploy.asks),
  };
  const stale = {
    tool: 'rollback',
    args: SHOP_STAGING,
    state: rollback.state,
    answers: await bySelf(rollback.asks),
  };

  const ran = fleet.count('suspended', 'completed');
  const views: string[] = [];
  for (const attempt of attempts(loot, alice, bob)) views.push(await tryOut(stage, attempt));
  await sleep(Math.max(0, expires - Date.now()));
  const late: Attempt = {
    title: 'It comes too late: a rollback waits 1 second',
    by: alice,
    call: stale,
    reason: 'expired',
  };
  views.push(await tryOut(stage, late));

  report.gap();
  report.check(new Set(views).size === 1, 'The client got the same answer every time, and cannot tell why.');
  report.check(fleet.count('suspended', 'completed') === ran, 'No tool ran: a state is opened before anything else.');
  const honest = await alice.send(loot);
  report.check(honest.type === 'asks', 'The very same state, untouched and from alice, goes on.');
}

/** One round as it is shown. */
interface Played<R extends Round = Round> {
  readonly round: R;
  readonly server: ServerProcess;
  /** The log line of a build that ran in this round. */
  readonly built: LogLine | undefined;
}

async function playRound({ report, fleet, alice }: Stage, number: number, call: Call): Promise<Played> {
  const marks = new Map(fleet.servers.map((server) => [server, server.lines.length]));
  const round = await alice.send(call);
  const server = fleet.on(round.port);
  const mark = marks.get(server) ?? 0;
  await server.lineAfter(mark, ['suspended', 'completed', 'rejected']);
  const built = server.lines.slice(mark).find(({ event }) => event === 'built');

  report.head(`Round ${number} on server ${server.name}, pid ${server.pid}`, `${round.ms} ms`);
  if (built !== undefined) report.row('build', `run here: ${String(built['id'])}`);
  else report.row('build', 'not run again, replayed from the state');
  switch (round.type) {
    case 'asks':
      report.row('state', `${round.state.length} characters, sealed, kept by the client alone`);
      report.row('asks', questions(Object.keys(round.asks).length));
      break;
    case 'result':
      report.row(round.failed ? 'error' : 'result', round.text);
      break;
    case 'refused':
      report.row('refused', `${round.code} ${round.message}`);
      break;
  }
  return { round, server, built };
}

/** Gets the answers; what the demo answers by itself is printed, what a person answers stands there already. */
async function takeAnswers(
  { report }: Stage,
  asks: InputRequests,
  answer: Answerer,
): Promise<InputResponses> {
  const answers = await answer(asks);
  if (answer === bySelf) {
    for (const [key, { params }] of Object.entries(asks)) {
      const question = params !== undefined && 'message' in params ? params.message : key;
      report.row('', `${question} → ${asText(contentOf(answers, key))}`);
    }
  }
  return answers;
}

/** Makes one attempt, and gives the client's whole view of its outcome. */
async function tryOut({ report, fleet }: Stage, { title, by, call, reason }: Attempt): Promise<string> {
  const marks = new Map(fleet.servers.map((server) => [server, server.lines.length]));
  const round = await by.send(call);
  const server = fleet.on(round.port);
  const line = await server.lineAfter(marks.get(server) ?? 0, ['suspended', 'completed', 'rejected']);
  const { port: _port, ms: _ms, ...view } = round;
  const refused = round.type === 'refused' && round.code === -32_602;
  report.check(refused && line?.event === 'rejected' && line['reason'] === reason, title);
  report.row(
    'client',
    round.type === 'refused' ? `${round.code} ${round.message}` : `not refused: ${round.type}`,
  );
  report.row(
    'server log',
    ['event', 'method', 'target', 'reason'].map((field) => String(line?.[field])).join(' '),
  );
  return JSON.stringify(view);
}

function closing(report: Report): void {
  report.section(3, 'What you saw');
  report.say(
    'A tool written as plain straight-line code (examples/demo/server.ts) asked three questions in one call. ' +
      'Each round could reach any process, and no process kept anything between them. What the call had learned ' +
      'travelled through the client: encrypted, authenticated, and bound to the call, the caller and a time.',
  );
  report.say(
    'Sealing does not make a state single-use: until it expires, it can be presented again. docs/security.md ' +
      'tells what follows from that.',
  );
  report.say('Read on:');
  report.list([
    '',
    'README.md               what it is, and how to begin',
    'docs/writing-flows.md   how to write such tools',
    'docs/security.md        what is protected, and what is not',
  ]);
}

/** Whether a round asks exactly these questions. */
function asks(
  report: Report,
  played: Played,
  keys: readonly string[],
): played is Played<Extract<Round, { type: 'asks' }>> {
  const { round } = played;
  const fits = round.type === 'asks' && Object.keys(round.asks).join() === keys.join();
  report.expect(fits, `A round asks ${keys.join(' and ')}.`);
  return fits;
}

function contentOf(answers: InputResponses, key: string): Record<string, unknown> {
  const answer = answers[key];
  return answer !== undefined && 'content' in answer
    ? ((answer.content ?? {}) as Record<string, unknown>)
    : {};
}

function asText(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}

function questions(count: number): string {
  return count === 1 ? 'a question' : `${count} questions, together in one round`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
