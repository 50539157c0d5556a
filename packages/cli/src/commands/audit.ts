import { Option, type Command } from 'commander';
import { readWhole } from '../arguments/arguments.js';
import { SEVERITIES, type Severity } from '../audit/attack.js';
import { ATTACKS } from '../audit/attacks/index.js';
import { attacksOf } from '../audit/audit.js';
import { takesServerCommand, type ServerCommand } from '../command-line.js';
import { readTarget } from '../connect/target.js';
import { parseDuration } from '../duration.js';
import { WrongUse } from '../outcome.js';
import { runAudit, type AuditIo, type AuditSettings } from '../run-audit.js';
import { harmlessLine } from '../safe-text.js';
import { parsePath } from './options.js';

const HELP = `
The server is a URL, or a program that is started and ended with the command: what stands behind --.
Times are seconds, or have a unit: 500ms, 90s, 5m, 2h, 1d.

It calls the tool for real, about a thousand times if it asks three times, and answers what it asks. Audit a server
whose effects do no harm.

Arguments are made from the tool's schema, and answers from those of the questions, as far as you give none. An answers
file is that of parley call. To test more, give it:
  --as, --other       two users of the server: whether the state of one is taken from the other, or from nobody
  --probe             a tool that says how often the effect has happened: whether a retry that is sent twice has two
  --wait              longer than a state lives: whether it is taken after its time

States and answers are not shown, and never headers; in the requests to send again stand $STATE, $ANSWERS, $AS and $OTHER.

Exit codes:
  0    no finding at or above --fail-on
  1    findings at or above it, or it could not be audited: no connection, no such tool, a tool that asks nothing
  2    called in a wrong way; nothing was called on the server
  130  stopped by Ctrl-C (129 and 143: by a hang-up, or by SIGTERM)

Examples:
  $ parley audit https://releases.example.com/mcp --tool deploy
  $ parley audit --tool deploy --json '{"env":"staging"}' -- node server.js
  $ parley audit https://releases.example.com/mcp --tool deploy --bearer-env ANN --other-bearer-env BEN --report audit.html
  $ parley audit http://127.0.0.1:3000/mcp --tool pay --probe payments --wait 11m --fail-on high --report audit.sarif`;

interface Options extends AuditSettings {
  readonly serverCommand?: ServerCommand;
  readonly list?: true;
  readonly tool?: string;
  readonly json?: string;
  readonly probeJson?: string;
  readonly only?: readonly string[];
  readonly failOn: Severity;
}

/** Adds `parley audit`, which attacks the questions and states of any server. */
export function addAudit(parley: Command, io: AuditIo): void {
  const command = parley
    .command('audit')
    .description(
      'attack a tool that asks, from outside, and say whether its server can be trusted with its states',
    )
    .usage('<url> --tool <name> [options]\n       parley audit --tool <name> [options] -- <program ...>')
    .argument('[url]', 'the URL of the server');
  takesServerCommand(command)
    .option('--tool <name>', 'the tool, which asks at least once')
    .option('--json <object>', "the tool's arguments as one JSON object; - reads stdin, @file a file")
    .option('--answers <file>', 'answers from a JSON file', parsePath)
    .option('--as <header>', "'name: value' that signs you in; may be repeated", collect)
    .option('--other <header>', "'name: value' that signs somebody else in; may be repeated", collect)
    .option('--bearer-env <name>', 'environment variable that holds your bearer token')
    .option('--other-bearer-env <name>', "environment variable that holds somebody else's")
    .option('--prompt <name>', "a prompt that asks, too (default: that of the tool's name)")
    .option('--probe <tool>', 'a tool that asks nothing, whose text holds the number of effects so far')
    .option('--probe-json <object>', 'its arguments')
    .option('--wait <time>', 'wait so long for a state to expire', parseDuration)
    .option('--report <file>', 'write a report: .html, .json or .sarif; may be repeated', collectPath)
    .addOption(
      new Option('--fail-on <severity>', 'exit with 1 for findings from here on')
        .choices(SEVERITIES)
        .default('medium'),
    )
    .option('--only <attack>', 'make this attack only; may be repeated', collect)
    .option('--list', 'list the attacks, and do nothing')
    .option('--show-values', 'show states and answers in full in reports')
    .addOption(
      new Option('--timeout <time>', 'how long one request may take')
        .argParser(parseDuration)
        .default(10_000, '10s'),
    )
    .addHelpText('after', HELP)
    .action(async (url: string | undefined, options: Options) => {
      if (options.list === true) return io.out(listOfAttacks());
      const { target } = readTarget(url === undefined ? [] : [url], options.serverCommand);
      if (url !== undefined && options.serverCommand !== undefined) throw misplaced(url);
      const { tool, json, only = [], failOn, probe, probeJson } = options;
      if (tool === undefined || tool === '') {
        throw new WrongUse('Name a tool that asks: --tool NAME. `parley tools` lists those of a server.');
      }
      if (probeJson !== undefined && probe === undefined) throw new WrongUse('--probe-json is for --probe.');
      if (json === '-' && probeJson === '-')
        throw new WrongUse('stdin is read once: --json or --probe-json.');
      const unknown = only.find((id) => !ATTACKS.some((attack) => attack.id === id));
      if (unknown !== undefined) {
        throw new WrongUse(`There is no attack ${harmlessLine(unknown).slice(0, 60)}. --list lists them.`);
      }
      const args = await readWhole(json, io.readStdin);
      const probeArguments = await readWhole(probeJson, io.readStdin);
      await runAudit(
        { target, tool, failOn, attacks: attacksOf(ATTACKS, only), args, probeArguments },
        options,
        io,
      );
    });
}

function listOfAttacks(): string {
  const width = Math.max(...ATTACKS.map(({ id }) => id.length));
  return ATTACKS.map(
    ({ id, severity, title }) => `${id.padEnd(width)}  ${severity.padEnd(8)}  ${title}\n`,
  ).join('');
}

function misplaced(word: string): WrongUse {
  return new WrongUse(`'${harmlessLine(word).slice(0, 20)}' is not expected: the program stands behind --.`);
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

function collectPath(value: string, before: readonly string[] = []): string[] {
  return [...before, parsePath(value)];
}
