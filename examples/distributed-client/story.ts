/** The story: one process asks and leaves, others answer, and things go wrong between them. */
import type { Report } from '../demo/report.js';
import { EXIT } from './exits.js';
import type { Actor } from './processes.js';
import type { Place } from './queue.js';
import type { Expense, Life, Stage } from './stage.js';

const TRIP: Expense = { reference: 'trip-2041', amount: 120, purpose: 'a train to Basel' };
const COURSE: Expense = { reference: 'course-2042', amount: 900, purpose: 'a course' };
const HOTEL: Expense = { reference: 'hotel-2043', amount: 210, purpose: 'a hotel' };
const DESK: Expense = { reference: 'desk-2044', amount: 480, purpose: 'a desk' };

/** Tells it. What did not go as it should is in the report afterwards. */
export async function tell(stage: Stage, report: Report): Promise<void> {
  report.title('A call that one process begins, and another one answers');
  report.say(
    'Ann has expenses paid through an MCP server. It asks whether it may, and only a manager can say. Her processes ' +
      'and those of the managers share a folder. The server shares nothing with them, and keeps nothing.',
  );
  await askAndLeave(stage, report);
  await twoAtOnce(stage, report);
  await lostAnswers(stage, report);
  await tooLate(stage, report);
}

async function askAndLeave(stage: Stage, report: Report): Promise<void> {
  report.section(1, 'Ann asks, and leaves');
  const expenses = [TRIP, COURSE, HOTEL, DESK];
  const server = await serve(stage, report, 'Monday', {});
  const askers = expenses.map((expense) => stage.ask(expense));
  for (const asker of askers) {
    await asker.ends();
    report.row('ann', asker.lastLine);
  }
  await server.kill();
  const waiting = await Promise.all(
    expenses.map(
      async (expense) => (await isAt(stage, expense, 'waiting')) && !(await stage.isPaid(expense)),
    ),
  );
  report.check(!waiting.includes(false), 'Four calls wait in the folder. Nothing is paid.');
  report.alarm('Her processes have ended, and the server is killed.');
}

async function twoAtOnce(stage: Stage, report: Report): Promise<void> {
  report.section(2, 'Two managers answer at the same time');
  const server = await serve(stage, report, 'Tuesday, another server process with the same keys', {
    daysLater: 1,
  });
  const list = stage.list();
  await list.ends();
  report.row('the list', list.lines.join(' '));
  report.expect(list.lines.length === 4, 'Four calls are listed.');

  const [maria, otto] = [stage.answer(TRIP), stage.answer(TRIP)];
  for (const manager of [maria, otto]) {
    await manager.says('approve ');
    manager.tell('yes');
    await manager.says('note ');
  }
  say(report, 'both see', maria);
  // Each has filled in all but the last line.
  for (const manager of [maria, otto]) manager.tell('');
  const codes = new Set([await maria.ends(), await otto.ends()]);
  report.row('maria', maria.lastLine);
  report.row('otto', otto.lastLine);
  await server.says('answered:');
  const heard = server.lines.filter((line) => line.startsWith('answered:')).length;
  const isOne = codes.has(EXIT.done) && codes.has(EXIT.taken) && heard === 1;
  report.check(isOne && (await stage.isPaid(TRIP)), 'The server got one answer, and has paid.');
  await found(stage, report, TRIP, 'answered');
  await server.kill();
}

async function lostAnswers(stage: Stage, report: Report): Promise<void> {
  report.section(3, 'The server dies over an answer');
  for (const [expense, dies] of [
    [COURSE, 'after paying'],
    [HOTEL, 'before paying'],
  ] as const) {
    const server = await serve(stage, report, `Wednesday. It dies ${dies}`, { daysLater: 2, dies });
    const maria = stage.answer(expense);
    await approve(maria);
    const code = await maria.ends();
    await server.ends();
    say(report, 'maria', maria);
    const isAside = code === EXIT.unclear && (await isAt(stage, expense, 'sent'));
    report.check(isAside, 'Nobody sends it again by accident.');
  }

  const server = await serve(stage, report, 'Thursday. It is back', { daysLater: 3 });
  const first = stage.answer(COURSE);
  const settled = await first.ends();
  say(report, 'otto', first);
  report.check(settled === EXIT.done && (await stage.isPaid(COURSE)), 'Paid, and not sent again.');
  await found(stage, report, COURSE, 'settled');
  report.gap();
  const second = stage.answer(HOTEL);
  await approve(second);
  const again = await second.ends();
  say(report, 'otto', second);
  report.check(again === EXIT.done && (await stage.isPaid(HOTEL)), 'Asked and sent again, and paid.');
  await found(stage, report, HOTEL, 'answered');
  await server.kill();
}

async function tooLate(stage: Stage, report: Report): Promise<void> {
  report.section(4, 'The manager answers too late');
  const server = await serve(stage, report, 'A week later. The server gives managers five days', {
    daysLater: 7,
  });
  const maria = stage.answer(DESK);
  await approve(maria);
  const code = await maria.ends();
  say(report, 'maria', maria);
  report.check(code === EXIT.expired && !(await stage.isPaid(DESK)), 'Nothing is paid.');
  await found(stage, report, DESK, 'expired');
  await server.kill();
}

/** Starts a server, and says which. */
async function serve(stage: Stage, report: Report, when: string, life: Life): Promise<Actor> {
  const server = await stage.serve(life);
  report.head(when, `server process ${server.pid}`);
  return server;
}

async function approve(manager: Actor): Promise<void> {
  await manager.says('approve ');
  manager.tell('yes');
  await manager.says('note ');
  manager.tell('');
}

async function isAt(stage: Stage, expense: Expense, where: Place): Promise<boolean> {
  return (await stage.whereIs(expense)) === where;
}

/** What Ann finds in the folder of what has ended. Nothing else may be left of the call. */
async function found(stage: Stage, report: Report, expense: Expense, outcome: string): Promise<void> {
  const end = await stage.endOf(expense);
  report.row('ann finds', `${end?.outcome}: ${end?.text}`);
  const isAll = end?.outcome === outcome && !(await stage.isLeft(expense));
  report.expect(isAll, `${expense.reference} ended as '${outcome}', and nothing is left of it.`);
}

/** What a process said, but for the fields that it asked for. */
function say(report: Report, who: string, { lines }: Actor): void {
  const said = lines.filter((line) => !/^\w+ \(.*\):$/.test(line));
  for (const [index, line] of said.entries()) report.row(index === 0 ? who : '', line);
}
