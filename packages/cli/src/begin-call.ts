import { drive, type DrivenRequest } from 'mcp-parley/client';
import { AnswersFile } from './answers-file.js';
import type { CallIo } from './call-io.js';
import { withConnection, type Connection, type ConnectOptions } from './connect/connection.js';
import type { Target } from './connect/target.js';
import { Ended, EXIT, WrongUse } from './outcome.js';
import { checkMediaFolder } from './output/media.js';
import { runCall, type CallSettings } from './run-call.js';
import { newSavedCall, resumeLine } from './saving.js';

/** Options of a call that begins. */
export interface BeginOptions extends ConnectOptions, CallSettings {
  /** File to leave the call in at the first question that has no answer. */
  readonly save?: string;
}

/**
 * Connects, makes the request, and drives it to its end. What can be wrong on this side is found before anything is
 * sent.
 *
 * @throws Ended
 */
export async function beginCall(
  target: Target,
  options: BeginOptions,
  io: CallIo,
  makeRequest: (connection: Connection) => Promise<DrivenRequest>,
): Promise<void> {
  await checkSettings(options);
  const { save } = options;
  const answers = await readAnswers(options);
  const store = save === undefined ? undefined : await newSavedCall(save, (line) => io.err(`${line}\n`));
  await withConnection(target, options, io, async (connection) => {
    if (store !== undefined && connection.client.getProtocolEra() === 'legacy') {
      throw new Ended(
        EXIT.failed,
        `${connection.name} speaks a revision before 2026-07-28, whose calls cannot be saved. Nothing was called. ` +
          'Leave --save out, and answer at the terminal or with --answers.',
      );
    }
    const request = await makeRequest(connection);
    const saving =
      save === undefined || store === undefined
        ? undefined
        : {
            store,
            path: save,
            leaveFrom: 1,
            resumeWith: (...more: readonly string[]) => resumeLine(save, target, options, more),
          };
    const call = {
      method: request.method,
      settings: options,
      answers,
      ...(saving !== undefined && { saving }),
      start: (driveOptions: Parameters<typeof drive>[2]) => drive(connection.client, request, driveOptions),
    };
    await runCall(connection, call, io);
  });
}

/** @throws WrongUse for options that do not go together, and a folder that cannot be written to. */
export async function checkSettings({ output, mediaDir }: CallSettings): Promise<void> {
  if (mediaDir === undefined) return;
  if (output === 'json') {
    throw new WrongUse('--media-dir goes with --output text: JSON holds the bytes itself.');
  }
  await checkMediaFolder(mediaDir);
}

/** @throws WrongUse when there is no such file, or it is none of answers. */
export async function readAnswers({ answers }: CallSettings): Promise<AnswersFile | undefined> {
  return answers === undefined ? undefined : AnswersFile.read(answers);
}
