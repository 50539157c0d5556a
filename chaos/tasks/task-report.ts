/** What is counted in a run of tasks, what is wrong, and how it is told. */
import { isatty } from 'node:tty';
import pc from 'picocolors';
import type { Mischief } from './errand.js';

const MISCHIEF: Readonly<Record<Mischief, string>> = {
  twice: 'last rounds sent twice at once',
  wrong: 'answers that do not fit',
  malformed: 'answers of no shape',
  unknown: 'answers to what nobody asked',
  partial: 'answers to one of two questions',
  again: 'other answers after an acknowledged one',
  race: 'two answers at once',
  cancel: 'tasks cancelled',
  late: 'answers and cancellations after the end',
};

/** Violations that are printed in full; the others are only counted. */
const SHOWN = 12;

/** Counts, and keeps what must not be. */
export class TaskReport {
  readonly seed: string;
  readonly #tasks: number;
  readonly #verbose: boolean;
  readonly #counts = new Map<string, number>();
  readonly #mischief = new Map<Mischief, number>();
  readonly #warnings = new Map<string, number>();
  readonly #violations: string[] = [];
  readonly #started = performance.now();
  readonly #live = isatty(process.stderr.fd);

  constructor({
    seed,
    tasks,
    verbose,
  }: {
    readonly seed: string;
    readonly tasks: number;
    readonly verbose: boolean;
  }) {
    this.seed = seed;
    this.#tasks = tasks;
    this.#verbose = verbose;
  }

  count(name: string, by = 1): void {
    this.#counts.set(name, this.countOf(name) + by);
  }

  countOf(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  mischief(name: Mischief): void {
    this.#mischief.set(name, (this.#mischief.get(name) ?? 0) + 1);
  }

  warning(text: string): void {
    this.#warnings.set(text, (this.#warnings.get(text) ?? 0) + 1);
  }

  violation(text: string): void {
    this.#violations.push(text);
    this.note(`violation: ${text}`);
  }

  /** Told only with --verbose. */
  note(text: string): void {
    if (this.#verbose) process.stderr.write(`${text}\n`);
  }

  get violations(): number {
    return this.#violations.length;
  }

  /** One line that is written over, on a terminal only. */
  progress(ended: number): void {
    if (!this.#live) return;
    process.stderr.write(`\r\u001B[K${ended} of ${this.#tasks} tasks ended`);
    if (ended === this.#tasks) process.stderr.write('\r\u001B[K');
  }

  print(missing: readonly string[]): void {
    const { bold, green, red } = pc.createColors(isatty(process.stdout.fd) && pc.isColorSupported);
    section(bold(`Chaos for tasks, seed ${this.seed}: ${this.#tasks} tasks`), [...this.#counts]);
    section(
      bold('What clients did'),
      Object.entries(MISCHIEF).map(([name, text]) => [text, this.#mischief.get(name as Mischief) ?? 0]),
    );
    if (this.#verbose) section(bold('Warnings of processes'), [...this.#warnings]);
    const color = this.violations === 0 ? green : red;
    line('', color(bold(`Violations: ${this.violations}`)));
    line(...this.#violations.slice(0, SHOWN).map((text) => red(`  ✗ ${text}`)));
    line(...missing.map((text) => red(`Not enough: ${text}`)));
    const seconds = ((performance.now() - this.#started) / 1_000).toFixed(1);
    line(`Took ${seconds} s. Again with the same decisions: npm run chaos -- tasks --seed ${this.seed}`);
  }
}

function section(title: string, rows: readonly (readonly [string, number])[]): void {
  const width = Math.max(44, ...rows.map(([text]) => text.length));
  line('', title, ...rows.map(([text, count]) => `  ${text.padEnd(width)} ${String(count).padStart(7)}`));
}

function line(...lines: readonly string[]): void {
  for (const each of lines) process.stdout.write(`${each}\n`);
}
