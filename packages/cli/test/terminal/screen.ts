import { spawn, type IPty } from '@lydell/node-pty';
import xterm from '@xterm/headless';

/** A program in a pseudo-terminal of its own, and what a person would see there. */
export interface ScreenOptions {
  /** For this very `node`. */
  readonly args: readonly string[];
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** Beside those of the tests; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** How a program ended. */
export interface Ended {
  readonly code: number;
  readonly signal: number;
}

/** Longest wait for something to be seen, in ms. It only bounds a failure: nothing waits that long that passes. */
const SEEN_WITHIN = 15_000;

/** Keys, as terminals send them. */
export const KEYS = {
  enter: '\r',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  pageUp: '\u001b[5~',
  pageDown: '\u001b[6~',
  backspace: '\u007f',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlU: '\u0015',
} as const;

const HIDE = '\u001b[?25l';
const SHOW = '\u001b[?25h';

/** The environment of the tests, without what would change what is drawn. */
const HERE = {
  ...process.env,
  TERM: 'xterm-256color',
  NO_COLOR: undefined,
  FORCE_COLOR: undefined,
  ACCESSIBLE: undefined,
  CI: undefined,
  NODE_OPTIONS: undefined,
  TZ: 'UTC',
};

const running = new Set<Screen>();

/** Ends the programs that still run. Call it behind each test. */
export function endAll(): void {
  for (const screen of running) screen.kill();
}

/** A program on a terminal: type to it, wait until it shows something, read what it shows. */
export class Screen {
  readonly ended: Promise<Ended>;
  readonly #pty: IPty;
  readonly #emulator: InstanceType<typeof xterm.Terminal>;
  readonly #watchers = new Set<() => void>();
  #end: Ended | undefined;
  #raw = '';
  /** What of it the emulator has taken in. */
  #shown = '';

  constructor({ args, columns = 80, rows = 24, cwd = process.cwd(), env = {} }: ScreenOptions) {
    const all = Object.entries({ ...HERE, ...env }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    this.#emulator = new xterm.Terminal({ cols: columns, rows, scrollback: 2000, allowProposedApi: true });
    this.#pty = spawn(process.execPath, [...args], {
      name: env['TERM'] ?? HERE.TERM,
      cols: columns,
      rows,
      cwd,
      env: Object.fromEntries(all),
    });
    running.add(this);
    this.#pty.onData((data) => {
      this.#raw += data;
      this.#emulator.write(data, () => {
        this.#shown += data;
        this.#changed();
      });
    });
    // What the program asks the terminal, as a real one would answer it.
    this.#emulator.onData((data) => this.#pty.write(data));
    this.ended = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal = 0 }) => {
        running.delete(this);
        // What was written last may still be on its way through the emulator.
        this.#emulator.write('', () => {
          this.#end = { code: exitCode, signal };
          resolve(this.#end);
          this.#changed();
        });
      });
    });
  }

  /** Everything that was written, with its sequences. */
  get raw(): string {
    return this.#raw;
  }

  /** What the window shows, line by line, without spaces at the ends and empty lines below. */
  get text(): string {
    const { viewportY } = this.#emulator.buffer.active;
    return this.#lines(viewportY, viewportY + this.#emulator.rows);
  }

  /** The same with everything above it. */
  get all(): string {
    return this.#lines(0, this.#emulator.buffer.active.length);
  }

  /** Where the cursor is in the window, from 0. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.#emulator.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  /** Presses keys, and types texts. */
  type(...keys: readonly string[]): void {
    for (const key of keys) this.#pty.write(key);
  }

  resize(columns: number, rows: number): void {
    this.#emulator.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  /** Ends the program. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    if (this.#end === undefined) process.kill(this.#pty.pid, signal);
  }

  /** Waits until the window shows something. */
  async see(what: string | RegExp): Promise<string> {
    const isSeen = (text: string): boolean =>
      typeof what === 'string' ? text.includes(what) : what.test(text);
    return this.#until(isSeen, String(what));
  }

  /** Waits until the window shows something no more. */
  async gone(what: string): Promise<string> {
    return this.#until((text) => !text.includes(what), `no ${what}`);
  }

  async #until(holds: (text: string) => boolean, what: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const { text } = this;
        if (holds(text)) finish(() => resolve(text));
        else if (this.#end !== undefined) finish(() => reject(this.#unseen(what, 'The program has ended.')));
      };
      const timer = setTimeout(
        () => finish(() => reject(this.#unseen(what, 'The time is up.'))),
        SEEN_WITHIN,
      );
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(check);
        settle();
      };
      this.#watchers.add(check);
      this.#changed();
    });
  }

  #unseen(what: string, why: string): Error {
    return new Error(`Not seen: ${what}. ${why} The window shows:\n${this.text}`);
  }

  /** A window is looked at between two frames: while one is drawn, the cursor is hidden. */
  #changed(): void {
    if (this.#end === undefined && this.#shown.lastIndexOf(HIDE) > this.#shown.lastIndexOf(SHOW)) return;
    for (const check of this.#watchers) check();
  }

  #lines(from: number, to: number): string {
    const { active } = this.#emulator.buffer;
    const lines = Array.from({ length: to - from }, (_, index) =>
      (active.getLine(from + index)?.translateToString(true) ?? '').trimEnd(),
    );
    return lines.join('\n').trimEnd();
  }
}
