import type { Progress } from './terminal/index.js';

/**
 * stderr while a server works: a sign of life, if a person looks, and lines that are written between it. While a
 * question has the screen, lines wait.
 */
export class StatusLine {
  readonly #err: (text: string) => void;
  readonly #progress: Progress | undefined;
  #waiting = '';
  #isHeld = false;
  #isDone = false;

  constructor(err: (text: string) => void, progress: Progress | undefined) {
    this.#err = err;
    this.#progress = progress;
  }

  /** Writes a text that ends in a line break. */
  write(text: string): void {
    if (this.#isHeld) {
      this.#waiting += text;
      return;
    }
    this.#progress?.pause();
    this.#err(text);
    if (!this.#isDone) this.#progress?.resume();
  }

  /** Says which round is under way, from 1. */
  round(n: number): void {
    this.#progress?.round(n);
  }

  /** Shows what the server says of its work. */
  server(text: string | undefined): void {
    this.#progress?.server(text);
  }

  /** Gives the screen to a question, */
  hold(): void {
    this.#isHeld = true;
    this.#progress?.pause();
  }

  /** and takes it back. */
  release(): void {
    this.#isHeld = false;
    if (!this.#isDone) this.#progress?.resume();
    this.#flush();
  }

  /** Leaves the screen for good: what follows stands alone. */
  done(): void {
    this.#isDone = true;
    this.#isHeld = false;
    this.#progress?.done();
    this.#flush();
  }

  #flush(): void {
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '') this.write(text);
  }
}
