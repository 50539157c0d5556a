import type { Command } from 'commander';
import { resume, type SavedFlow } from 'mcp-parley/client';
import { checkSettings, readAnswers } from '../begin-call.js';
import type { CallIo } from '../call-io.js';
import type { ServerCommand } from '../command-line.js';
import { withConnection } from '../connect/connection.js';
import { nameOf, readUrl, targetOf, type Target } from '../connect/target.js';
import { Ended, EXIT, WrongUse } from '../outcome.js';
import { runCall } from '../run-call.js';
import { harmlessLine } from '../safe-text.js';
import { loadSavedCall, resumeLine, savedCall } from '../saving.js';
import { addCallOptions, ANSWERS_HELP, EXIT_HELP, parsePath, type CallOptions } from './options.js';

const HELP = `
What was asked last is asked again, then the call goes on to its end. After every round it is saved in the same
file, which is removed when the call ends. How long it may wait is the server's decision.

A file must not start a program, nor say where a token is sent. So a call to a program needs that program behind --,
and a call with --header or --bearer-env needs the URL of its server. Either must be what the file holds.
${ANSWERS_HELP}
${EXIT_HELP}

Examples:
  $ parley resume flow.json
  $ parley resume flow.json --answers answers.json
  $ parley resume flow.json --save
  $ parley resume flow.json https://releases.example.com/mcp --bearer-env RELEASES_TOKEN
  $ parley resume flow.json -- node server.js`;

interface ResumeOptions extends CallOptions {
  readonly save?: boolean;
  readonly resend?: boolean;
}

/** Adds `parley resume`, which goes on with a saved call. */
export function addResume(parley: Command, io: CallIo): void {
  const command = parley
    .command('resume')
    .description('go on with a call that was saved')
    .usage('<file> [url] [options]\n       parley resume <file> [options] -- <program ...>')
    .argument('<file>', 'what --save wrote', parsePath)
    .argument('[url]', 'the URL of its server, where a token is sent along');
  addCallOptions(command)
    .option('--save', 'answer what was asked, and leave again at the next question that has no answer', false)
    .option('--resend', 'send a round again of which nobody knows whether it took effect')
    .addHelpText('after', HELP)
    .action(async (path: string, url: string | undefined, options: ResumeOptions) => {
      await checkSettings(options);
      const store = savedCall(path, (line) => io.err(`${line}\n`));
      const flow = await loadSavedCall(store, path);
      if (flow === undefined) throw new WrongUse(`${harmlessLine(path)} is not there. Has the call ended?`);
      const target = targetOf(flow.server);
      const resumeWith = (...more: readonly string[]): string => resumeLine(path, target, options, more);
      requireNamed(target, url, options, resumeWith());
      requireWhole(flow, path, options, resumeWith);
      const answers = await readAnswers(options);
      await withConnection(target, options, io, async (connection) => {
        const call = {
          method: flow.request.method,
          settings: options,
          answers,
          saving: { store, path, ...(options.save === true && { leaveFrom: flow.round + 1 }), resumeWith },
          start: (driveOptions: Parameters<typeof resume>[2]) =>
            resume(connection.client, flow, { ...driveOptions, resend: options.resend === true }),
        };
        await runCall(connection, call, io);
      });
    });
}

/**
 * A file may come from anybody: it neither starts a program nor names the receiver of a token.
 *
 * @throws WrongUse when the person did not name the server where they must, or named another one.
 */
function requireNamed(target: Target, url: string | undefined, options: ResumeOptions, line: string): void {
  const { serverCommand, header, bearerEnv } = options;
  const other = 'That is not the server that the call was saved with, which is';
  if (target.type === 'stdio') {
    if (url !== undefined) throw new WrongUse(`${other} ${nameOf(target)}.`);
    if (serverCommand === undefined) {
      throw new WrongUse(
        `The call goes to a program, which a file must not start by itself: ${nameOf(target)}\n` +
          `If that is to be started, say so with\n  ${line}`,
      );
    }
    if (!isSameCommand(serverCommand, target.command)) throw new WrongUse(`${other} ${nameOf(target)}.`);
    return;
  }
  if (serverCommand !== undefined) throw new WrongUse(`${other} ${nameOf(target)}.`);
  if (url !== undefined && readUrl(url) !== target.url) throw new WrongUse(`${other} ${nameOf(target)}.`);
  if (url === undefined && (header !== undefined || bearerEnv !== undefined)) {
    throw new WrongUse(
      `The call goes to ${nameOf(target)}. A file must not say where a token is sent.\n` +
        `If that is right, say so with\n  ${line}`,
    );
  }
}

function isSameCommand(a: ServerCommand, b: ServerCommand): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A file may hold numbers that are no time. */
function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'once' : `on ${date.toISOString()}`;
}

/** @throws WrongUse when it was saved for somebody else, Ended when nobody knows what became of its last round. */
function requireWhole(
  flow: SavedFlow,
  path: string,
  { principal, resend }: ResumeOptions,
  resumeWith: (...more: readonly string[]) => string,
): void {
  if ((flow.server.principal ?? null) !== (principal ?? null)) {
    throw new WrongUse('The call was saved under another --principal. Give the one that it was saved under.');
  }
  if (flow.sentAt === undefined || resend === true) return;
  throw new Ended(
    EXIT.unknown,
    `Round ${flow.round + 1} was sent ${dayOf(flow.sentAt)} and not answered, so whether it took ` +
      `effect is not known. Look at the thing itself. If it was not done, send it again with\n` +
      `  ${resumeWith('--resend')}\nIf it was, remove ${harmlessLine(path)}.`,
  );
}
