/** What a story is told with: the processes, the callers, and a view of both sides of each request. */
import { generateKey } from 'mcp-parley';
import type { Answerer } from './answers.js';
import { Caller, type Call, type Round } from './driver.js';
import { Fleet, type LogLine, type ServerProcess } from './fleet.js';
import { startProxy } from './proxy.js';
import type { Report } from './report.js';

/** Everything that runs, and where to tell of it. */
export interface Stage {
  readonly report: Report;
  readonly answer: Answerer;
  readonly fleet: Fleet;
  readonly alice: Caller;
  readonly bob: Caller;
}

/** Starts everything, lets the story be told, and ends everything, whatever comes. */
export async function onStage(
  report: Report,
  answer: Answerer,
  tell: (stage: Stage) => Promise<void>,
): Promise<void> {
  const fleet = new Fleet(['A', 'B'], { PARLEY_KEYS: generateKey() });
  const closing: (() => void | Promise<void>)[] = [() => fleet.end()];
  try {
    const ports = await fleet.ports();
    const proxy = await startProxy(ports);
    closing.unshift(proxy.close);
    const connect = async (token: string): Promise<Caller> => {
      const caller = await Caller.connect(`http://127.0.0.1:${proxy.port}/mcp`, token);
      closing.unshift(() => caller.close());
      return caller;
    };
    const alice = await connect('alice');
    const bob = await connect('bob');
    for (const [index, { name, pid }] of fleet.servers.entries()) {
      report.row(`server ${name}`, `127.0.0.1:${ports[index]}, pid ${pid}`);
    }
    report.row('proxy', `127.0.0.1:${proxy.port}, round robin, no sticky sessions`);
    report.row('client', `the official one, MCP ${alice.protocol}`);
    await tell({ report, answer, fleet, alice, bob });
  } finally {
    for (const close of closing) await close();
  }
}

/** One request, as its client and its server saw it. */
export interface Seen<R extends Round = Round> {
  /** What the client got. */
  readonly round: R;
  /** Who answered. */
  readonly server: ServerProcess;
  /** What it logged meanwhile. */
  readonly lines: readonly LogLine[];
}

/** What a server logs at the end of each request of a flow. */
const ENDINGS = ['suspended', 'completed', 'rejected'];

/** Sends a request and looks at both sides. */
export async function watch({ fleet }: Stage, caller: Caller, call: Call): Promise<Seen> {
  const marks = new Map(fleet.servers.map((server) => [server, server.lines.length]));
  const round = await caller.send(call);
  const server = fleet.on(round.port);
  const mark = marks.get(server) ?? 0;
  await server.lineAfter(mark, ENDINGS);
  return { round, server, lines: server.lines.slice(mark) };
}
