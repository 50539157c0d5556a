import { WrongUse } from '../outcome.js';
import { readTextFile } from '../text-input.js';

/** The options of `parley inspect`, as commander gives them. */
export interface InspectArguments {
  readonly file?: string;
  readonly flow?: string;
  readonly keysEnv?: string;
  readonly keysFile?: string;
  readonly audience?: string;
  readonly reveal?: boolean;
  readonly output: 'text' | 'json';
  readonly maxLength?: number;
  readonly method?: string;
  readonly name?: string;
  readonly uri?: string;
  readonly arguments?: string;
  readonly principal?: string;
  readonly issuer?: string;
  readonly client?: string;
  readonly subject?: string;
  readonly anonymous?: boolean;
}

/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Where keys are, if nobody says otherwise: where servers have them as well. */
export const KEYS_ENV = 'PARLEY_KEYS';

/** Where the audience is, if no option says it. */
export const AUDIENCE_ENV = 'PARLEY_AUDIENCE';

/**
 * The keys, from a file or from the environment. The names of both stay out of errors: somebody may have given the
 * key itself.
 *
 * @throws WrongUse when there are none.
 */
export async function keysOf({ keysFile, keysEnv }: InspectArguments, env: Env): Promise<string> {
  if (keysFile !== undefined) return await readTextFile(keysFile, 'The file that --keys-file names');
  const keys = env[keysEnv ?? KEYS_ENV];
  if (keys !== undefined && keys.trim() !== '') return keys;
  throw new WrongUse(
    `${keysEnv === undefined ? KEYS_ENV : 'The variable that --keys-env names'} is not set. It must hold the keys of ` +
      'the server that made the token. Or name a file that holds them, with --keys-file.',
  );
}

/**
 * Who the token is for.
 *
 * @throws WrongUse when that is not said.
 */
export function audienceOf({ audience }: InspectArguments, env: Env): string {
  const said = audience ?? env[AUDIENCE_ENV];
  if (said !== undefined && said !== '') return said;
  throw new WrongUse(
    'The audience is not known, and tokens open for one audience only. It is the name of the server that made the ' +
      `token, or the 'audience' that its Parley was made with. Give it with --audience, or in ${AUDIENCE_ENV}.`,
  );
}

/**
 * A key that was given as an argument.
 *
 * @throws WrongUse, always. It does not hold the key.
 */
export function refuseKey(): never {
  throw new WrongUse(
    'A key is never an argument: everybody on this machine can see arguments, and shells write them down. Put it into ' +
      `${KEYS_ENV}, or into a file that you name with --keys-file. If a real key stood there, it has leaked: replace it.`,
  );
}
