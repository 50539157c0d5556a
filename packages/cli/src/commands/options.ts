import { InvalidArgumentError, Option, type Command } from 'commander';
import { takesServerCommand, type ServerCommand } from '../command-line.js';
import type { ConnectOptions } from '../connect/connection.js';
import { parseDuration } from '../duration.js';
import type { CallSettings } from '../run-call.js';

/** Options of every command that talks to a server. */
export interface ServerOptions extends ConnectOptions {
  /** What stood behind `--`. */
  readonly serverCommand?: ServerCommand;
}

/** Options of every command that drives a call. */
export type CallOptions = ServerOptions & CallSettings;

const MOST_ROUNDS = 10_000;

/** Adds the options that say how to connect. */
export function addServerOptions(command: Command): Command {
  return takesServerCommand(command)
    .option('--header <header>', "'name: value', sent with every request; may be repeated", collect)
    .option('--bearer-env <name>', 'environment variable that holds a bearer token')
    .option(
      '--principal <name>',
      'a label for who is signed in; a saved call goes on only under the same one',
    )

    .addOption(
      new Option('--timeout <time>', 'how long one request may take')
        .argParser(parseDuration)
        .default(60_000, '60s'),
    )
    .option('--verbose', 'show what a program writes to stderr, and the causes of a failure');
}

/** Adds the options that say how a call is answered, how far it may go, and how its result is printed. */
export function addCallOptions(command: Command): Command {
  return addServerOptions(command)
    .option(
      '--answers <file>',
      'answer from a JSON file; nobody is asked, and a missing answer fails',
      parsePath,
    )
    .option(
      '--deadline <time>',
      'how long the whole call may take, with all that people take to answer',
      parseDuration,
    )
    .option('--max-rounds <n>', 'how many rounds it may take (default: 16)', parseRounds)
    .addOption(
      new Option('--output <format>', 'how the result is printed').choices(['text', 'json']).default('text'),
    )
    .option(
      '--media-dir <dir>',
      'folder for images, sounds and other bytes (default: a new temporary one)',
      parsePath,
    )
    .option('--quiet', 'print the result, questions and errors only');
}

/** What stands under the help of every command that talks to a server. */
export const SERVER_HELP = `
The server is a URL, or a program that is started and ended with the command: what stands behind --.
Times are seconds, or have a unit: 500ms, 90s, 5m, 2h, 1d.`;

/** Exit codes, as help shows them. */
export const EXIT_HELP = `
Exit codes:
  0    done
  1    failed: no connection, an error of the protocol, a response that cannot be used, a bound reached
  2    called in a wrong way; nothing was called on the server
  3    the tool itself reported an error
  4    an answer is missing or does not fit, or the call was saved and waits
  5    whether it took effect is not known: a retry was sent and not answered, or its task is out of sight
  130  stopped by Ctrl-C (129 and 143: by a hang-up, or by SIGTERM)`;

/** What help says of answers. */
export const ANSWERS_HELP = `
An answers file holds a JSON object, by the key of the question:
  { "region": { "region": "eu" }, "go": { "action": "decline" }, "page": { "action": "accept" } }
A value is the content of the form, or an answer as the protocol has it: { "action": "accept", "content": { … } }.
Each is given once. A key that is asked again takes the next value of a list: "go": [ { … }, { … } ].
Questions of 2025-11-25 servers have no keys: they are "1", "2" and so on, in the order in which they are asked.`;

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

/** Adds the option that leaves a call which begins. */
export function addSaveOption(command: Command): Command {
  return command.option(
    '--save <file>',
    'leave at the first question that has no answer; parley resume goes on',
    parsePath,
  );
}

/** The name of a file. An empty one is a variable of the shell that is not set. */
export function parsePath(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must be the name of a file, and is empty.');
  return text;
}

function parseRounds(text: string): number {
  const rounds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (rounds < 1 || rounds > MOST_ROUNDS) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_ROUNDS}.`);
  }
  return rounds;
}
