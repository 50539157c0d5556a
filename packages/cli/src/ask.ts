import type { AskContext, Handlers, Question } from 'mcp-parley/client';
import type { AnswersFile } from './answers-file.js';
import { quoted } from './quoted.js';
import type { StatusLine } from './status-line.js';
import { terminalHandlers, type Terminal } from './terminal/index.js';

/** Who answers the questions of a call. */
export interface AskOptions {
  /** The server's name before people. */
  readonly serverName: string;
  /** Answers from a file. With one, nobody else is asked. */
  readonly answers?: AnswersFile;
  /** The round from which on questions are left for later, in a saved call. */
  readonly leaveFrom?: number;
  /** The person. */
  readonly terminal?: Terminal;
  /** stderr. It leaves the screen while somebody is asked. */
  readonly status: StatusLine;
  /** Whether forms that are answered from a file are not mentioned. */
  readonly isQuiet: boolean;
}

/** Why a question stays without an answer. */
export type OpenReason =
  /** The file has none. */
  | 'missing'
  /** It is left for later. */
  | 'left'
  /** There is nobody to be asked. */
  | 'nobody';

/** A question stays open, and with it the call. */
export class LeftOpen extends Error {
  override readonly name = 'LeftOpen';

  constructor(
    readonly reason: OpenReason,
    readonly question: Question,
  ) {
    super(`The question ${JSON.stringify(question.key)} stays open (${reason}).`);
  }
}

/**
 * The handlers that a call is driven with: a file, then the person at the terminal, then nobody. A question that
 * nobody may answer ends the call; nothing is ever guessed.
 */
export function handlersFor(options: AskOptions): {
  readonly [K in 'form' | 'url']: NonNullable<Handlers[K]>;
} {
  const { answers, leaveFrom, terminal, serverName, status, isQuiet } = options;
  const person =
    terminal === undefined
      ? undefined
      : terminalHandlers(terminal, {
          serverName,
          onAsk: () => status.hold(),
          onBusy: () => status.release(),
        });

  /** @throws LeftOpen when the person is not to be asked. */
  const requirePerson = (question: Question, { round }: AskContext): NonNullable<typeof person> => {
    if (leaveFrom !== undefined && round >= leaveFrom) throw new LeftOpen('left', question);
    if (answers !== undefined) throw new LeftOpen('missing', question);
    if (person === undefined) throw new LeftOpen('nobody', question);
    return person;
  };
  const tell = (message: string, ...lines: readonly string[]): void =>
    status.write([`${serverName} asks: ${quoted(message)}`, ...lines, ''].join('\n'));
  return {
    form: (question, context) => {
      const answer = answers?.takeForm(question);
      if (answer === undefined) return requirePerson(question, context).form(question, context);
      if (!isQuiet) tell(question.message, `  ${answer.action}, from ${answers?.path}`);
      return answer;
    },
    url: (question, context) => {
      const answer = answers?.takeUrl(question);
      if (answer === undefined) return requirePerson(question, context).url(question, context);
      // The consent is that of the file's author. Nothing is opened: the page is for whoever reads this.
      tell(question.message, `  ${question.url}`, `  ${answer.action}, from ${answers?.path}`);
      return answer;
    },
  };
}
