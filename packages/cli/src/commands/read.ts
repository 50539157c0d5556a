import type { Command } from 'commander';
import { beginCall, type BeginOptions } from '../begin-call.js';
import type { CallIo } from '../call-io.js';
import { readTarget } from '../connect/target.js';
import { WrongUse } from '../outcome.js';
import {
  addCallOptions,
  addSaveOption,
  ANSWERS_HELP,
  EXIT_HELP,
  SERVER_HELP,
  type ServerOptions,
} from './options.js';

const HELP = `${SERVER_HELP}
${ANSWERS_HELP}
${EXIT_HELP}

Examples:
  $ parley read https://releases.example.com/mcp releases://1.4.0/notes
  $ parley read releases://1.4.0/notes -- node server.js`;

/** Adds `parley read`, which reads a resource and answers what it asks. */
export function addRead(parley: Command, io: CallIo): void {
  const command = parley
    .command('read')
    .description('read a resource, and answer what it asks')
    .usage('<url> <uri> [options]\n       parley read <uri> [options] -- <program ...>')
    .argument('[words...]', 'the URL of the server, and the URI of the resource');
  addSaveOption(addCallOptions(command))
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], options: BeginOptions & ServerOptions) => {
      const { target, rest } = readReadTarget(words, options);
      const [uri, ...more] = rest;
      if (uri === undefined || more.length > 0) throw new WrongUse('Name one resource, by its URI.');
      await beginCall(target, options, io, async () => ({ method: 'resources/read', params: { uri } }));
    });
}

/** A resource's URI may look like a server's URL: where a program is given, the only word is the resource. */
function readReadTarget(
  words: readonly string[],
  { serverCommand }: ServerOptions,
): ReturnType<typeof readTarget> {
  if (serverCommand === undefined || words.length !== 1) return readTarget(words, serverCommand);
  return { target: { type: 'stdio', command: serverCommand }, rest: words };
}
