import { Ended, EXIT, WrongUse } from '../outcome.js';
import { readTextFile } from '../text-input.js';
import { findState, stateOfFlow, type Found } from './find-state.js';
import type { InspectArguments } from './options.js';

/** Where `-` is read from. */
export interface StdinIo {
  /** All of stdin, as UTF-8. */
  readonly readStdin: () => Promise<string>;
  /** Writes to stderr. */
  readonly err: (text: string) => void;
  /** The person, if there is one at stdin. */
  readonly terminal?: object;
}

/**
 * The state to look into, from wherever the command line says.
 *
 * @throws WrongUse when it says nothing, or two things, or names a file that cannot be read.
 * @throws Ended when there is no state.
 */
export async function stateFrom(
  token: string | undefined,
  { file, flow }: InspectArguments,
  io: StdinIo,
): Promise<Found> {
  if ([token, file, flow].filter((source) => source !== undefined).length !== 1) {
    throw new WrongUse('Give one token: as an argument, as - for stdin, with --file, or with --flow.');
  }
  if (flow !== undefined) {
    return (
      stateOfFlow(await readTextFile(flow, 'The file that --flow names')) ??
      missing('The file that --flow names is no saved flow with a state in it.')
    );
  }
  if (file !== undefined) {
    return (
      findState(await readTextFile(file, 'The file that --file names')) ??
      missing('The file that --file names has no requestState.')
    );
  }
  if (token !== undefined && token !== '-') return findState(token) ?? missing(NONE);
  if (io.terminal !== undefined) {
    io.err(
      'Paste the token, then press Enter and Ctrl-D. A terminal cuts lines after 4095 characters: use --file for more.\n',
    );
  }
  return findState(await io.readStdin()) ?? missing(NONE);
}

const NONE = 'There is no requestState in what was given.';

function missing(what: string): never {
  throw new Ended(EXIT.failed, what);
}
