/** `npm run demo`: reads the command line, tells a story, and ends whatever it started on every way out. */
import { parseArgs } from 'node:util';
import { byPerson, bySelf, Cancelled, type Answerer } from './answers.js';
import { Report } from './report.js';
import { tellRounds } from './rounds.js';
import { tellTasks } from './tasks.js';
import type { TaskCarrier } from './tasks-stage.js';

const HELP = `Usage: npm run demo -- [story] [options]

Stories:
  rounds      Starts two MCP servers and a load balancer on this machine, makes a
              call that asks questions in the middle, kills a server, and tries to
              cheat. This one is told if you name none.
  tasks       Makes a call that asks, goes on as a task, asks again, and ends.

You answer.

Options:
  -y, --yes   answer by itself; exits with 0 only if all went as expected
  --memory    tasks in the memory of the server (the default)
  --postgres  tasks in a Postgres that is started for it, and two workers, one of
              which is killed
  -h, --help  show this
`;

/** Longest a run without a person may take, in ms. It takes about ten seconds. */
const PATIENCE_MS = 90_000;

/** The stories, by the word that asks for them. */
const STORIES = { rounds: tellRounds, tasks: tellTasks } as const;

const EXIT = { held: 0, failed: 1, usage: 2 } as const;

const STOPPED = '\nStopped. All that was started is ended.';

/** Exit codes of a process that a signal ended, as shells tell them. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  if (typeof options === 'string') {
    console.error(`${options}\nSee npm run demo -- --help.`);
    return EXIT.usage;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return EXIT.held;
  }
  if (!options.yes && !(process.stdin.isTTY && process.stdout.isTTY)) {
    console.error(
      'There is no terminal to ask you on. To let the demo answer by itself: npm run demo -- --yes',
    );
    return EXIT.usage;
  }
  endOnSignals();
  if (options.yes) giveUpAfter(PATIENCE_MS);
  return await tell(options, options.yes ? bySelf : byPerson);
}

async function tell({ story, carrier }: Options, answer: Answerer): Promise<number> {
  const report = new Report();
  try {
    await STORIES[story](report, answer, carrier);
  } catch (error) {
    if (error instanceof Cancelled) {
      console.error(STOPPED);
      return SIGNALS.SIGINT;
    }
    report.expect(false, `The demo broke off: ${error instanceof Error ? error.message : String(error)}`);
  }
  report.verdict();
  return report.failed.length === 0 ? EXIT.held : EXIT.failed;
}

interface Options {
  readonly story: keyof typeof STORIES;
  readonly carrier: TaskCarrier;
  readonly yes: boolean;
  readonly help: boolean;
}

/** The options, or what is wrong with them. */
function readOptions(args: readonly string[]): Options | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        yes: { type: 'boolean', short: 'y', default: false },
        memory: { type: 'boolean', default: false },
        postgres: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const [story = 'rounds', ...more] = positionals;
    const unexpected = Object.hasOwn(STORIES, story) ? more[0] : story;
    if (unexpected !== undefined) return `Unexpected argument '${unexpected}'.`;
    const { yes, memory, postgres, help } = values;
    if ((memory || postgres) && story !== 'tasks')
      return 'Only the tasks have a store: npm run demo -- tasks.';
    if (memory && postgres) return 'Choose one of --memory and --postgres.';
    return { story: story as keyof typeof STORIES, carrier: postgres ? 'postgres' : 'memory', yes, help };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return `${message.split('. ')[0]}.`;
  }
}

/** Leaving through `process.exit` ends the servers: see `Fleet`. */
function endOnSignals(): void {
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.once(signal, () => {
      console.error(STOPPED);
      process.exit(code);
    });
  }
  // Whoever reads the output has gone, for example `head`.
  process.stdout.once('error', () => process.exit(EXIT.failed));
}

function giveUpAfter(ms: number): void {
  setTimeout(() => {
    console.error(`The demo did not end within ${ms / 1_000} seconds, so it gives up.`);
    process.exit(EXIT.failed);
  }, ms).unref();
}
