import type { Command } from 'commander';
import { WrongUse } from './outcome.js';

/** A server that is a program, as it stands behind `--` on the command line. */
export type ServerCommand = readonly [command: string, ...args: string[]];

/** Where the options of a command that talks to a server hold that program. There is no option by this name. */
const KEY = 'serverCommand';

/** Says that a server's program may stand behind the `--` of this command. */
export function takesServerCommand(command: Command): Command {
  return command.setOptionValueWithSource(KEY, undefined, 'default');
}

/**
 * Takes the server's program out of a command line and gives it to its command, so that commander does not look at
 * it. It stands behind `--`: at the end (`call deploy env=prod -- node server.js`), or first, and then a second `--`
 * ends it (`call -- node server.js -- deploy env=prod`). In the first form a second `--` is the program's own.
 *
 * @param args the arguments after the program's name
 * @returns what is left of them, for commander
 * @throws WrongUse when nothing stands behind `--`.
 */
export function takeServerCommand(parley: Command, args: readonly string[]): string[] {
  const first = args.findIndex((arg) => !arg.startsWith('-'));
  const command = parley.commands.find((each) => each.name() === args[first]);
  const at = args.indexOf('--');
  if (command?.getOptionValueSource(KEY) === undefined || at < first) return [...args];
  const before = args.slice(0, at);
  const behind = args.slice(at + 1);
  const end = hasWords(before.slice(first + 1), command) ? -1 : behind.indexOf('--');
  const words = end === -1 ? behind : behind.slice(0, end);
  if (words[0] === undefined || words[0] === '') {
    throw new WrongUse(
      'Nothing stands behind --. The program that is the server belongs there: -- node server.js',
    );
  }
  command.setOptionValueWithSource(KEY, words, 'cli');
  return end === -1 ? before : [...before, ...behind.slice(end + 1)];
}

/** Whether there is a word among arguments that is neither an option nor the value of one. */
function hasWords(args: readonly string[], command: Command): boolean {
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (!arg.startsWith('-') || arg === '-') return true;
    if (command.options.some(({ short, long, required }) => required && (arg === short || arg === long))) {
      index += 1;
    }
  }
  return false;
}
