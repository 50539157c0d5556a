/** The story: a report that takes a night. It asks, goes on as a task, loses its worker, asks again, and ends. */
import type { Answerer } from './answers.js';
import type { ServerProcess } from './fleet.js';
import { NightlyCall } from './nightly-call.js';
import type { Report } from './report.js';
import { LEASE_MS, onTaskStage, WORK_MS, type TaskCarrier, type TaskStage } from './tasks-stage.js';

/** A worker is killed when it has collected this many of five regions. */
const KILLED_AT = 2;

/** Tells the story. What did not go as promised is in the report afterwards. */
export async function tellTasks(report: Report, answer: Answerer, carrier: TaskCarrier): Promise<void> {
  const isMortal = carrier === 'postgres';
  report.title(
    `Parley: one call that asks, goes on as a task, and ${isMortal ? 'outlives its worker' : 'asks again'}`,
  );
  report.say(
    isMortal
      ? 'Starting a Postgres, a server and two workers. They share one key and the database.'
      : 'Starting one server process. It keeps its tasks in memory, and runs them.',
  );
  await onTaskStage(report, carrier, async (stage) => {
    const call = new NightlyCall(report, stage, answer);
    const kill = isMortal ? call.detached.then(() => killAWorker(report, stage)) : undefined;
    const [text, survivor] = await Promise.all([call.run(), kill]);
    tellEnd(report, { stage, call, text, survivor });
  });
  if (report.failed.length === 0) tellWhatWasSeen(report, carrier);
}

/** Kills the worker that has the task in the midst of a step, and gives the one that goes on. */
async function killAWorker(report: Report, { workers }: TaskStage): Promise<ServerProcess> {
  const victim = await Promise.any(
    workers.map(async (worker) => worker.saw('collecting', { within: WORK_MS })),
  );
  await victim.saw('collected', { times: KILLED_AT, within: WORK_MS });
  await victim.kill();
  const killedAt = performance.now();
  report.alarm(`Worker ${victim.name} (pid ${victim.pid}) is killed in a step: SIGKILL, no goodbye.`);
  report.gap();

  const others = workers.filter((worker) => worker !== victim);
  const survivor = await Promise.any(
    others.map(async (worker) => worker.saw('collecting', { within: WORK_MS })),
  );
  const seconds = ((performance.now() - killedAt) / 1_000).toFixed(1);
  report.row(
    `worker ${survivor.name}`,
    `takes the task over after ${seconds} s; a lease lasts ${LEASE_MS / 1_000} s`,
  );
  return survivor;
}

interface End {
  readonly stage: TaskStage;
  readonly call: NightlyCall;
  /** The text of the result. */
  readonly text: string;
  /** Who went on after a kill. */
  readonly survivor: ServerProcess | undefined;
}

function tellEnd(report: Report, { stage, call, text, survivor }: End): void {
  const count = (event: string): number =>
    stage.workers.flatMap(({ lines }) => lines).filter((line) => line.event === event).length;
  const { asked, approved, period, messages } = call;

  report.section(4, 'It ends');
  report.row('result', text);
  report.gap();
  const mailed = approved ? 1 : 0;
  const isReport = approved ? text.includes(period) : text.endsWith('was not mailed.');
  report.check(
    isReport && (survivor === undefined || survivor.alive),
    survivor === undefined
      ? 'The call came to its end. It was one function from its first line to its last.'
      : `The call came to its end, on worker ${survivor.name}. Its client noticed nothing.`,
  );
  report.check(
    asked.join() === 'period,approve',
    'Two questions, each asked once: in a round, and by the task.',
  );
  report.check(
    messages.some((message) => message.startsWith('Collected')),
    'The client saw how far the work was, from its heartbeat.',
  );
  if (survivor !== undefined) {
    report.check(
      count('collecting') === 2,
      'The step that was cut off was begun again, and no other work was.',
    );
  }
  report.check(
    count('numbered') === 1 && count('mailed') === mailed,
    `What must happen at most once: a number was taken once, ${approved ? 'one mail was' : 'and no mail was'} sent.`,
  );
}

function tellWhatWasSeen(report: Report, carrier: TaskCarrier): void {
  report.section(5, 'What you saw');
  report.say(
    'One handler, written as plain straight-line code (examples/demo/nightly.ts). Until it detaches, its questions are ' +
      'rounds, and the client carries its memory. After that it is a task: questions are answered one by one, work ' +
      'goes on while nobody is connected, and its memory is in a store, sealed.',
  );
  if (carrier === 'memory') {
    report.say(
      'Tasks in memory end with their process, so nobody was killed here. On Postgres a worker is, and another one ' +
        'goes on: npm run demo -- tasks --postgres',
    );
  }
  report.say('Read on:');
  report.list([
    'docs/tasks.md             how to write such tools, and which store when',
    'docs/operating-tasks.md   tables, workers, monitoring, upgrades',
  ]);
}
