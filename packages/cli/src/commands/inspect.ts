import { InvalidArgumentError, Option, type Command } from 'commander';
import { inspectToken, ParleyError, type Inspection } from 'mcp-parley/inspect';
import { describeToken } from '../inspect/describe.js';
import { explain } from '../inspect/explain.js';
import { heldAgainst } from '../inspect/held-against.js';
import {
  AUDIENCE_ENV,
  audienceOf,
  KEYS_ENV,
  keysOf,
  refuseKey,
  type Env,
  type InspectArguments,
} from '../inspect/options.js';
import { stateFrom, type StdinIo } from '../inspect/state-source.js';
import { Ended, EXIT, WrongUse } from '../outcome.js';
import { harmlessLine } from '../safe-text.js';

/** What `parley inspect` needs of its surroundings. */
export interface InspectIo extends StdinIo {
  /** Environment variables. */
  readonly env: Env;
  /** Writes to stdout. */
  readonly out: (text: string) => void;
  /** The clock, in ms since 1970. Default `Date.now`. */
  readonly now?: () => number;
}

const HELP = `
The token is an argument (which everybody on this machine can see in its list of processes), - for stdin, or in a file:
alone, or as the requestState of a saved flow, a JSON-RPC response or a request. Out of a request or a saved flow, the
token is also held against that request.

Keys come from the environment or a file, and are never an argument.

It exits with 0 when the token opens, also when its time is over; with 1 when it does not open; with 2 when it was
called in a wrong way. That a token opens does not mean that a server takes it.

Examples:
  $ parley inspect --audience releases --file response.json
  $ parley inspect --audience releases --flow flow.json --reveal
  $ pbpaste | parley inspect - --audience releases --output json | jq .questions
  $ parley inspect - --audience releases --name deploy --arguments '{"env":"production"}' < token.txt
  $ parley inspect - --audience releases --keys-file /run/secrets/parley < token.txt`;

/** Adds `parley inspect`, which looks into a token for those who hold its key. */
export function addInspect(parley: Command, io: InspectIo): void {
  const hidden = (flags: string): Option => new Option(flags).hideHelp();
  parley
    .command('inspect')
    .argument('[token]', 'the token (requestState), or - to read it from stdin')
    .description(
      'look into a token, with the key that sealed it: what it says of itself, or why it does not open',
    )
    .option('--file <path>', 'read the token from a file')
    .option('--flow <path>', 'read the token from a saved flow')
    .option('--audience <name>', `who the token is for: the name of the server (default: ${AUDIENCE_ENV})`)
    .option('--keys-env <name>', `environment variable that holds the keys (default: ${KEYS_ENV})`)
    .option('--keys-file <path>', 'file that holds the keys, parted by white space or commas')
    .option('--reveal', 'show values: answers, results of steps, messages of errors')
    .addOption(new Option('--output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .option('--max-length <n>', 'longest token to look at, in characters (default: 65536)', parseLength)
    .option('--name <name>', 'hold it against a request: the name of the tool or prompt')
    .option('--uri <uri>', '... the URI of the resource')
    .option('--method <method>', '... the method (default: tools/call, or resources/read with --uri)')
    .option('--arguments <json>', '... the arguments, as the client sent them')
    .option('--issuer <iss>', 'hold it against a principal: the issuer of the access token (iss)')
    .option('--client <id>', '... the OAuth client')
    .option('--subject <sub>', '... the user (sub)')
    .option('--principal <text>', "... the text that the server's option 'principal' gives")
    .option('--anonymous', '... nobody: a caller that is not signed in')
    .addOption(hidden('--key [key]'))
    .addOption(hidden('--keys [keys]'))
    .on('option:key', refuseKey)
    .on('option:keys', refuseKey)
    .addHelpText('after', HELP)
    .action(async (token: string | undefined, options: InspectArguments) => {
      await inspect(token, options, io);
    });
}

async function inspect(
  token: string | undefined,
  options: InspectArguments,
  { now = Date.now, ...io }: InspectIo,
): Promise<void> {
  const keys = await keysOf(options, io.env);
  const audience = audienceOf(options, io.env);
  const { request, principal } = heldAgainst(options);
  const found = await stateFrom(token, options, io);
  const { maxLength, reveal } = options;
  const inspection = await asked(() =>
    inspectToken(found.state, {
      keys,
      audience,
      reveal,
      request: request ?? found.request,
      principal,
      maxLength,
      now,
    }),
  );
  if (options.output === 'json') io.out(`${asciiJson(inspection)}\n`);
  else if (inspection.outcome === 'opened') io.out(describeToken(inspection, now()));
  if (inspection.outcome === 'unopened') throw new Ended(EXIT.failed, explain(inspection));
}

/** What the library refuses before it looks at the token (keys, the audience, arguments) was given in a wrong way. */
async function asked(work: () => Promise<Inspection>): Promise<Inspection> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ParleyError) throw new WrongUse(harmlessLine(error.message), { cause: error });
    throw error;
  }
}

/** JSON with nothing in it that a terminal acts on, and with all that was there. */
function asciiJson(inspection: Inspection): string {
  const unicode = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(inspection, null, 2).replaceAll(/[^\n\u0020-\u007e]/g, unicode);
}

function parseLength(text: string): number {
  const length = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (length < 1) throw new InvalidArgumentError('It must be a whole number of characters.');
  return length;
}
