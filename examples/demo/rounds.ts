/** The story: one call in three rounds, a server killed in the middle, and what an attacker gets. */
import type { InputRequests, InputResponses } from '@modelcontextprotocol/client';
import { answerAll, bySelf, type Answerer } from './answers.js';
import { tellAttacks, tellWhatIsReadable, type Sealed } from './attacks.js';
import type { Call, Round } from './driver.js';
import type { Report } from './report.js';
import { onStage, watch, type Seen, type Stage } from './stage.js';

const SHOP = { service: 'shop', environment: 'production' };

/** Tells the story. What did not go as promised is in the report afterwards. */
export async function tellRounds(report: Report, answer: Answerer): Promise<void> {
  report.title('Parley: MCP tools that ask in the middle of a call, on stateless servers');
  report.say('Starting two server processes. They share one key and nothing else.');
  await onStage(report, answer, async (stage) => {
    const sealed = await tellOneCall(stage);
    if (sealed === undefined) return;
    tellWhatIsReadable(stage, sealed);
    await tellAttacks(stage);
  });
  if (report.failed.length === 0) tellWhatWasSeen(report);
}

/** Gives what was sealed in the middle of the call; undefined when it went another way than expected. */
async function tellOneCall(stage: Stage): Promise<Sealed | undefined> {
  const { report, fleet } = stage;
  report.section(1, 'One call, three rounds, two processes, one of them killed');
  report.say(
    `alice calls deploy(${asText(SHOP)}). A round ends with questions, and with a state: all that the call ` +
      'knows so far, sealed. Her client brings the answers and the state to whichever server is next.',
  );
  const deploy: Call = { tool: 'deploy', args: SHOP };

  const first = await tellRound(stage, 1, deploy);
  if (!asks(report, first, ['where', 'how'])) return undefined;
  const plan = await takeAnswers(stage, first.round.asks);
  const build = String(buildIn(first));
  const region = String(contentOf(plan, 'where')['region']);

  const second = await tellRound(stage, 2, { ...deploy, state: first.round.state, answers: plan });
  report.expect(second.server !== first.server, 'Round 2 reached another process than round 1.');
  if (!asks(report, second, ['go'])) return undefined;
  const go = await takeAnswers(stage, second.round.asks);

  await second.server.kill();
  report.alarm(`Server ${second.server.name} (pid ${second.server.pid}) is killed: SIGKILL, no goodbye.`);

  const { round, server } = await tellRound(stage, 3, { ...deploy, state: second.round.state, answers: go });
  const agreed = contentOf(go, 'go')['confirm'] === true;
  const ending = round.type === 'result' && !round.failed ? round.text : '';
  const ended = agreed ? ending.includes(build) && ending.includes(region) : ending === 'Not deployed.';
  report.gap();
  report.check(
    ended && server !== second.server,
    `The call ended on server ${server.name}, which never saw the answers of round 2.`,
  );
  const builds = fleet.count('built');
  report.check(builds === 1, `The build ran ${builds === 1 ? 'once' : `${builds} times`}, in three rounds.`);
  return { state: second.round.state, secrets: [build, region] };
}

async function tellRound(stage: Stage, number: number, call: Call): Promise<Seen> {
  const { report, alice } = stage;
  const seen = await watch(stage, alice, call);
  const { round, server } = seen;
  report.head(`Round ${number} on server ${server.name}, pid ${server.pid}`, `${round.ms} ms`);
  if (round.type === 'refused') {
    report.row('refused', `${round.code} ${round.message}`);
    report.row('server log', server.complaint);
    return seen;
  }
  const build = buildIn(seen);
  report.row('build', build === undefined ? 'not run again, replayed from the state' : `run here: ${build}`);
  if (round.type === 'result') {
    report.row(round.failed ? 'error' : 'result', round.text);
    return seen;
  }
  const questions = Object.keys(round.asks).length;
  report.row('state', `${round.state.length} characters, sealed, kept by the client alone`);
  report.row('asks', questions === 1 ? 'a question' : `${questions} questions, together in one round`);
  return seen;
}

/** Gets the answers. What the demo answers by itself is printed; what a person answers stands there already. */
async function takeAnswers({ report, answer }: Stage, asks: InputRequests): Promise<InputResponses> {
  const answers = await answerAll(asks, answer);
  if (answer !== bySelf) return answers;
  for (const [key, { params }] of Object.entries(asks)) {
    const question = params !== undefined && 'message' in params ? params.message : key;
    report.row('', `${question} → ${asText(contentOf(answers, key))}`);
  }
  return answers;
}

function tellWhatWasSeen(report: Report): void {
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
    'README.md               what it is, and how to begin',
    'docs/writing-flows.md   how to write such tools',
    'docs/security.md        what is protected, and what is not',
  ]);
}

/** Whether a round asks exactly these questions. */
function asks(report: Report, seen: Seen, keys: readonly string[]): seen is Seen<Round & { type: 'asks' }> {
  const { round } = seen;
  const fits = round.type === 'asks' && Object.keys(round.asks).join() === keys.join();
  report.expect(fits, `A round asks for '${keys.join(`' and '`)}'.`);
  return fits;
}

/** The build that ran in a round, as its server logged it. */
function buildIn({ lines }: Seen): string | undefined {
  const line = lines.find(({ event }) => event === 'built');
  return line === undefined ? undefined : String(line['id']);
}

function contentOf(answers: InputResponses, key: string): Record<string, unknown> {
  const answer = answers[key];
  if (answer === undefined || !('content' in answer)) return {};
  return (answer.content ?? {}) as Record<string, unknown>;
}

function asText(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}
