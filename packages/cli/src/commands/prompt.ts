import type { Command } from 'commander';
import { readAssignments } from '../arguments/assignment.js';
import { promptArguments } from '../arguments/prompt-arguments.js';
import { beginCall, type BeginOptions } from '../begin-call.js';
import type { CallIo } from '../call-io.js';
import { findPrompt } from '../connect/find.js';
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
  $ parley prompt https://releases.example.com/mcp review-release version=1.4.0
  $ parley prompt review-release version=1.4.0 -- node server.js`;

/** Adds `parley prompt`, which gets a prompt and answers what it asks. */
export function addPrompt(parley: Command, io: CallIo): void {
  const command = parley
    .command('prompt')
    .description('get a prompt, and answer what it asks')
    .usage(
      '<url> <prompt> [name=value ...] [options]\n       parley prompt <prompt> [name=value ...] [options] -- <program ...>',
    )
    .argument('[words...]', 'the URL of the server, the prompt, and its arguments, which are texts');
  addSaveOption(addCallOptions(command))
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], options: BeginOptions & ServerOptions) => {
      const { target, rest } = readTarget(words, options.serverCommand);
      const [name, ...assigned] = rest;
      if (name === undefined) throw new WrongUse('Name a prompt.');
      const assignments = readAssignments(assigned);
      await beginCall(target, options, io, async (connection) => {
        const prompt = await findPrompt(connection, name);
        return { method: 'prompts/get', params: { name, arguments: promptArguments(prompt, assignments) } };
      });
    });
}
