import type { Command } from 'commander';
import { readWhole, toolArguments } from '../arguments/arguments.js';
import { readAssignments } from '../arguments/assignment.js';
import { beginCall, type BeginOptions } from '../begin-call.js';
import type { CallIo } from '../call-io.js';
import { findTool } from '../connect/find.js';
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

Arguments of the tool:
  name=value    becomes what the tool's schema says: a text, a number, true or false, a list or an object as JSON
  name:=json    is JSON, whatever the schema says
  --json        is all of them: '{"env":"prod"}', - for stdin, @file. It is sent as it is; name=value wins over it
${ANSWERS_HELP}
${EXIT_HELP}

Examples:
  $ parley call https://releases.example.com/mcp deploy env=prod count:=3
  $ parley call deploy env=prod -- node server.js
  $ parley call -- node server.js -- deploy env=prod
  $ parley call https://releases.example.com/mcp deploy env=prod --bearer-env RELEASES_TOKEN --output json
  $ parley call https://releases.example.com/mcp deploy env=prod --answers answers.json
  $ parley call https://releases.example.com/mcp deploy env=prod --save flow.json
  $ parley resume flow.json`;

/** Adds `parley call`, which calls a tool and answers what it asks. */
export function addCall(parley: Command, io: CallIo): void {
  const command = parley
    .command('call')
    .description('call a tool, and answer what it asks at the terminal, from a file, or later')
    .usage(
      '<url> <tool> [name=value ...] [options]\n       parley call <tool> [name=value ...] [options] -- <program ...>',
    )
    .argument('[words...]', 'the URL of the server, the tool, and its arguments');
  addSaveOption(addCallOptions(command))
    .option('--json <object>', 'the arguments as one JSON object; - reads stdin, @file a file')
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], options: BeginOptions & ServerOptions & { json?: string }) => {
      const { target, rest } = readTarget(words, options.serverCommand);
      const [name, ...assigned] = rest;
      if (name === undefined) throw new WrongUse('Name a tool. `parley tools` lists those of a server.');
      const assignments = readAssignments(assigned);
      const whole = await readWhole(options.json, io.readStdin);
      const given = { assignments, ...(whole !== undefined && { whole }) };
      // Where stdin was read to its end, nobody can type there any more.
      const { terminal: _terminal, ...unattended } = io;
      await beginCall(target, options, options.json === '-' ? unattended : io, async (connection) => {
        const tool = await findTool(connection, name);
        return { method: 'tools/call', params: { name, arguments: toolArguments(tool, given) } };
      });
    });
}
