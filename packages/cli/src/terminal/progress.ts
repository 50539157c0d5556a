import { harmlessLine } from '../safe-text.js';
import { barred } from './drawing/paragraphs.js';
import { Screen } from './drawing/screen.js';
import { cut } from './drawing/text-layout.js';
import { isPlain, themeOf, type Theme } from './theme.js';

/** How often the spinner turns, in ms. What takes less shows none. */
const EVERY = 120;

/** A sign of life while the server works. */
export interface Progress {
  /** Says which round is under way, from 1. */
  round(n: number): void;
  /** Shows what the server says of its work, until it says something else, or nothing any more. */
  server(text: string | undefined): void;
  /** Leaves the screen, until {@link resume}. Its time stands still. */
  pause(): void;
  resume(): void;
  /** Leaves the screen for good. */
  done(): void;
}

/**
 * Shows a spinner with the round and the elapsed time, where `output` is a terminal. On one that cannot go back in a
 * line, it says each thing once.
 */
export function progress(output: NodeJS.WriteStream, label: string): Progress {
  if (!output.isTTY) return SILENT;
  if (isPlain()) return plainProgress(output, label);
  return new Spinner(output, label);
}

const SILENT: Progress = {
  round: () => undefined,
  server: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
  done: () => undefined,
};

class Spinner implements Progress {
  readonly #theme: Theme;
  readonly #screen: Screen;
  readonly #label: string;
  #round = 1;
  #server = '';
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #elapsed = 0;

  constructor(output: NodeJS.WriteStream, label: string) {
    this.#theme = themeOf(output);
    this.#screen = new Screen(output);
    this.#label = harmlessLine(label);
    this.resume();
  }

  round(n: number): void {
    this.#round = n;
  }

  server(text = ''): void {
    this.#server = harmlessLine(text).trim();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#elapsed += performance.now() - this.#since;
    this.#screen.clear();
  }

  resume(): void {
    if (this.#timer !== undefined) return;
    this.#since = performance.now();
    this.#timer = setInterval(() => {
      this.#turn += 1;
      this.#draw();
    }, EVERY).unref();
  }

  done(): void {
    this.pause();
  }

  #draw(): void {
    const { marks, accent } = this.#theme;
    const spinner = marks.spinner[this.#turn % marks.spinner.length] ?? '';
    const elapsed = minutes(this.#elapsed + performance.now() - this.#since);
    const { columns, rows } = this.#screen.size;
    const after = ` ${marks.between} round ${this.#round} ${marks.between} ${elapsed}`;
    const room = Math.max(0, columns - 3 - after.length);
    const text = cut(`${cut(this.#label, room, marks.more)}${after}`, columns - 3, '');
    // Behind a bar, as all that a server says.
    const hasRoom = this.#server !== '' && rows > 1;
    const said = hasRoom ? barred([cut(this.#server, columns - 3, marks.more)], this.#theme) : [];
    this.#screen.draw({
      lines: [{ text: `${spinner} ${text}`, styled: `${accent(spinner)} ${text}` }, ...said],
      cursor: { row: 0, column: 0 },
    });
  }
}

function plainProgress(output: NodeJS.WriteStream, label: string): Progress {
  const { bar } = themeOf(output).marks;
  const said = { round: 0, server: '' };
  const round = (n: number): void => {
    if (n === said.round) return;
    said.round = n;
    output.write(`${harmlessLine(label)}, round ${n}\n`);
  };
  const server = (text = ''): void => {
    const line = harmlessLine(text).trim();
    if (line !== said.server && line !== '') output.write(`${bar} ${line}\n`);
    said.server = line;
  };
  round(1);
  return { ...SILENT, round, server };
}

/** Minutes and seconds, as `1:07`; with hours, from one on. */
function minutes(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, rest] = [Math.floor(seconds / 3600), seconds % 3600];
  const parts = [Math.floor(rest / 60), rest % 60].map((part) => String(part).padStart(2, '0'));
  return hours > 0 ? `${hours}:${parts.join(':')}` : parts.join(':').replace(/^0/, '');
}
