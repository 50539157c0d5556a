import { createColors } from 'picocolors';

type Style = (text: string) => string;

/** Colours and marks. Nothing is said by colour alone. */
export interface Theme {
  readonly bold: Style;
  readonly dim: Style;
  readonly accent: Style;
  readonly warning: Style;
  readonly fault: Style;
  readonly good: Style;
  readonly marks: Marks;
}

interface Marks {
  /** Stands before each line that a server wrote, and before no other. */
  readonly bar: string;
  readonly open: string;
  readonly closed: string;
  readonly pointer: string;
  readonly ticked: string;
  readonly unticked: string;
  readonly warning: string;
  readonly fault: string;
  readonly between: string;
  readonly more: string;
  readonly arrows: string;
  readonly spinner: readonly string[];
}

const UNICODE: Marks = {
  bar: '┃',
  open: '◆',
  closed: '◇',
  pointer: '›',
  ticked: '◼',
  unticked: '◻',
  warning: '▲',
  fault: '✗',
  between: '·',
  more: '…',
  arrows: '↑↓',
  spinner: ['◐', '◓', '◑', '◒'],
};

const ASCII: Marks = {
  bar: '|',
  open: '*',
  closed: '+',
  pointer: '>',
  ticked: '[x]',
  unticked: '[ ]',
  warning: '!',
  fault: 'x',
  between: '-',
  more: '...',
  arrows: 'Up Down',
  spinner: ['|', '/', '-', '\\'],
};

/** How this terminal is written to. `NO_COLOR`, `FORCE_COLOR` and `TERM` are heeded, as Node reads them. */
export function themeOf(
  output: Pick<NodeJS.WriteStream, 'hasColors'>,
  env: NodeJS.ProcessEnv = process.env,
): Theme {
  const colors = createColors(output.hasColors?.(env) ?? false);
  return {
    bold: colors.bold,
    dim: colors.dim,
    accent: colors.cyan,
    warning: colors.yellow,
    fault: colors.red,
    good: colors.green,
    marks: hasUnicode(env) ? UNICODE : ASCII,
  };
}

/** Whether the terminal's font is likely to have more than ASCII. The locale says little: in containers it is unset. */
function hasUnicode(env: NodeJS.ProcessEnv): boolean {
  if (process.platform !== 'win32') return env['TERM'] !== 'linux' && env['TERM'] !== 'dumb';
  return env['WT_SESSION'] !== undefined || env['TERM_PROGRAM'] !== undefined;
}

/**
 * Whether lines can only be written one after another: a terminal that knows no sequences, or a person who hears the
 * screen read to them (`ACCESSIBLE`).
 */
export function isPlain(env: NodeJS.ProcessEnv = process.env): boolean {
  const { TERM: term = '', ACCESSIBLE: accessible = '' } = env;
  if (accessible !== '' && accessible !== '0' && accessible !== 'false') return true;
  return term === 'dumb' || (term === '' && process.platform !== 'win32');
}
