/** What is counted, what is wrong, and how it is told. */
import { isatty } from 'node:tty';
import pc from 'picocolors';

/** What is done to the system on purpose. */
export const FAULTS = {
  kill: 'servers killed (SIGKILL) and started again',
  crash: 'servers that died between two steps of a request',
  stall: 'servers that stood still (SIGSTOP) and went on',
  redis: 'Redis stopped or killed, and started again',
  postgres: 'Postgres stopped or killed, and started again',
  partition: 'times that one server could not reach a store',
  late: 'replies of a store that came late',
  rotation: 'phases of key rotations',
  cut: 'responses cut off',
  'cut-half': 'responses cut off half-way',
  double: 'requests sent twice at once',
  race: 'rounds answered in two ways at once',
  again: 'old states with the same answers',
  other: 'old states with other answers',
  foreign: 'states of somebody else',
  dropped: 'states of a dropped key',
} as const;

export type FaultName = keyof typeof FAULTS;

/** Everything else that is counted. */
export type CountName =
  | 'ended'
  | 'won'
  | 'unknown'
  | 'workFailed'
  | 'restarted'
  | 'failed'
  | `retry: ${string}`
  | `rejected: ${string}`
  | 'repeated'
  | 'same';

/** Violations that are printed in full; the others are only counted. */
const SHOWN = 12;

/** Counts, and keeps what must not be. */
export class Report {
  readonly #faults = new Map<FaultName, number>();
  readonly #counts = new Map<CountName, number>();
  readonly #warnings = new Map<string, number>();
  readonly #violations: string[] = [];
  readonly #verbose: boolean;
  readonly #started = performance.now();
  readonly #live = isatty(process.stderr.fd);

  constructor(options: { readonly verbose: boolean }) {
    this.#verbose = options.verbose;
  }

  fault(name: FaultName): void {
    this.#faults.set(name, this.faultsOf(name) + 1);
  }

  count(name: CountName, by = 1): void {
    this.#counts.set(name, this.countOf(name) + by);
  }

  /** Something that must never be. */
  violation(text: string): void {
    this.#violations.push(text);
    this.note(`violation: ${text}`);
  }

  /** A warning of a server: many of them say the same. */
  warning(text: string): void {
    this.#warnings.set(text, (this.#warnings.get(text) ?? 0) + 1);
  }

  /** Told only with --verbose. */
  note(text: string): void {
    if (this.#verbose) process.stderr.write(`${this.#live ? '\r\u001B[K' : ''}${this.#seconds()} ${text}\n`);
  }

  faultsOf(name: FaultName): number {
    return this.#faults.get(name) ?? 0;
  }

  countOf(name: CountName): number {
    return this.#counts.get(name) ?? 0;
  }

  get faults(): number {
    return [...this.#faults.values()].reduce((sum, count) => sum + count, 0);
  }

  get violations(): number {
    return this.#violations.length;
  }

  /** One line that is written over, on a terminal only. */
  progress(): void {
    if (!this.#live) return;
    const line = `${this.#seconds()}  ${this.countOf('ended')} flows ended, ${this.faults} faults, ${this.violations} violations`;
    process.stderr.write(`\r\u001B[K${line}`);
  }

  /** Takes the progress line away. */
  clear(): void {
    if (this.#live) process.stderr.write('\r\u001B[K');
  }

  /** Prints everything. */
  print(seed: string, missing: readonly string[]): void {
    const { bold, green, red } = pc.createColors(isatty(process.stdout.fd) && pc.isColorSupported);
    const flows = this.#sum('ended', 'unknown', 'workFailed', 'failed');
    this.#section(
      `Chaos, seed ${seed}`,
      [
        ['flows begun and seen to an end', flows],
        ['  with their result', this.countOf('ended')],
        ['    as the one who redeemed the coupon', this.countOf('won')],
        ['  told that the outcome is not known', this.countOf('unknown')],
        ['  told that the work failed', this.countOf('workFailed')],
        ['  given up or broken', this.countOf('failed')],
        ['flows begun again after a key was dropped', this.countOf('restarted')],
      ],
      bold,
    );
    const faults = Object.entries(FAULTS) as readonly [FaultName, string][];
    this.#section(
      `Faults: ${this.faults}`,
      faults.map(([name, text]) => [text, this.faultsOf(name)]),
      bold,
    );
    this.#section('Retries by reason', this.#rows('retry: '), bold);
    this.#section('Rejections by reason', this.#rows('rejected: '), bold);
    this.#section(
      'Repeated responses',
      [
        ['given again by a server', this.countOf('repeated')],
        ['seen on the wire, each the same byte for byte', this.countOf('same')],
      ],
      bold,
    );
    if (this.#verbose) this.#section('Warnings of servers', [...this.#warnings], bold);
    const lines = this.#violations.slice(0, SHOWN).map((text) => red(`  ✗ ${text}`));
    const good = this.violations === 0;
    print('', (good ? green : red)(bold(`Violations: ${this.violations}`)), ...lines);
    for (const text of missing) print(red(`Not enough: ${text}`));
    print(`Took ${this.#seconds().trim()}. Again with the same decisions: npm run chaos -- --seed ${seed}`);
  }

  #section(
    title: string,
    rows: readonly (readonly [string, number])[],
    bold: (text: string) => string,
  ): void {
    print('', bold(title));
    const width = Math.max(44, ...rows.map(([text]) => text.length));
    for (const [text, count] of rows) print(`  ${text.padEnd(width)} ${String(count).padStart(7)}`);
    if (rows.length === 0) print('  none');
  }

  #rows(prefix: 'retry: ' | 'rejected: '): readonly (readonly [string, number])[] {
    return [...this.#counts]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, count]) => [name.slice(prefix.length), count] as const)
      .toSorted(([, a], [, b]) => b - a);
  }

  #sum(...names: readonly CountName[]): number {
    return names.reduce((sum, name) => sum + this.countOf(name), 0);
  }

  #seconds(): string {
    return `${((performance.now() - this.#started) / 1_000).toFixed(1).padStart(6)} s`;
  }
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}
