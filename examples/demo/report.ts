/** What the demo prints, and whether it went as promised. At most 80 columns; colour on terminals only. */
import { isatty } from 'node:tty';
import pc from 'picocolors';

const WIDTH = 80;
const LABEL = 10;

const { bold, cyan, dim, green, red, yellow } = pc.createColors(
  isatty(process.stdout.fd) && pc.isColorSupported,
);

/** Prints the story, and keeps count of the expectations on the way. */
export class Report {
  readonly #failed: string[] = [];
  #held = 0;

  /** Expectations that did not hold. */
  get failed(): readonly string[] {
    return this.#failed;
  }

  title(text: string): void {
    print('', bold(text));
  }

  section(number: number, text: string): void {
    print('', `${bold(cyan(String(number)))}  ${bold(text)}`);
  }

  /** An empty line, where a new thought begins. */
  gap(): void {
    print('');
  }

  /** A paragraph. */
  say(text: string): void {
    print('', ...wrap(text, WIDTH - 2).map((line) => `  ${line}`));
  }

  /** The head of a group of rows, with a remark at the right edge. */
  head(text: string, remark = ''): void {
    const gap = Math.max(1, WIDTH - 2 - text.length - remark.length);
    print('', `  ${bold(text)}${' '.repeat(gap)}${dim(remark)}`);
  }

  /** Lines that are laid out already. */
  list(lines: readonly string[]): void {
    print(...lines.map((line) => `    ${line}`));
  }

  /** A label and what it has, with a hanging indent. */
  row(label: string, text: string): void {
    const lines = wrap(text, WIDTH - LABEL - 5);
    for (const [index, line] of lines.entries()) {
      print(`    ${dim((index === 0 ? label : '').padEnd(LABEL))} ${line}`);
    }
  }

  /** Something violent. */
  alarm(text: string): void {
    print('', `  ${yellow('⚡')} ${yellow(text)}`);
  }

  /** An expectation that belongs to the story: printed, whether it holds or not. */
  check(holds: boolean, text: string): void {
    this.expect(holds, text);
    item(holds ? green('✓') : red('✗'), text);
  }

  /** An expectation that is printed at the end, and only if it does not hold. */
  expect(holds: boolean, text: string): void {
    if (holds) this.#held += 1;
    else this.#failed.push(text);
  }

  /** Tells how it went. */
  verdict(): void {
    const all = this.#held + this.#failed.length;
    if (this.#failed.length === 0) {
      print('', `${green('✓')} All ${all} expectations held.`);
      return;
    }
    print('', red(`${this.#failed.length} of ${all} expectations failed:`));
    for (const text of this.#failed) item(red('✗'), text);
  }
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** A mark and a text, with a hanging indent. */
function item(mark: string, text: string): void {
  const [first = '', ...rest] = wrap(text, WIDTH - 6);
  print(`  ${mark} ${first}`, ...rest.map((line) => `    ${line}`));
}

/** Breaks at spaces; a word that is too long stays whole. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const fits = last !== undefined && last.length + 1 + word.length <= width;
    if (fits) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
