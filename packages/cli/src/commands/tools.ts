import type { Command } from 'commander';
import { Option } from 'commander';
import { createColors } from 'picocolors';
import type { CallIo } from '../call-io.js';
import { hasColors } from '../colors.js';
import { withConnection } from '../connect/connection.js';
import { listTools } from '../connect/find.js';
import { readTarget } from '../connect/target.js';
import { WrongUse } from '../outcome.js';
import { harmlessJson } from '../output/json.js';
import type { OutputFormat } from '../output/result.js';
import { toolText } from '../output/tool.js';
import { addServerOptions, SERVER_HELP, type ServerOptions } from './options.js';

const HELP = `${SERVER_HELP}

Examples:
  $ parley tools https://releases.example.com/mcp
  $ parley tools -- node server.js
  $ parley tools https://releases.example.com/mcp --output json`;

/** Adds `parley tools`, which lists a server's tools with their parameters. */
export function addTools(parley: Command, io: CallIo): void {
  const command = parley
    .command('tools')
    .description('list the tools of a server, with their parameters')
    .usage('<url> [options]\n       parley tools [options] -- <program ...>')
    .argument('[words...]', 'the URL of the server');
  addServerOptions(command)
    .addOption(
      new Option('--output <format>', 'how they are printed').choices(['text', 'json']).default('text'),
    )
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], options: ServerOptions & { output: OutputFormat }) => {
      const { target, rest } = readTarget(words, options.serverCommand);
      if (rest.length > 0)
        throw new WrongUse('There are words behind the server. `parley call` calls a tool.');
      await withConnection(target, options, io, async (connection) => {
        const tools = await listTools(connection);
        connection.status.done();
        if (options.output === 'json') {
          io.out(`${harmlessJson({ tools })}\n`);
          return;
        }
        if (tools.length === 0) io.err(`${connection.name} has no tools.\n`);
        const { bold } = createColors(hasColors(io));
        io.out(tools.map((tool) => toolText(tool, bold)).join('\n'));
      });
    });
}
