import type { Attempt } from './attempt.js';

/** One `waitFor` that is not recorded yet. Times in ms. */
export interface Wait {
  readonly every: number;
  readonly hold: number;
  /** Runs the author's check once. */
  readonly check: () => Promise<Attempt>;
  /** Takes the value, or why there will be none. */
  readonly settle: (result: Attempt) => void;
}

/** Longest time that a timer takes, in ms: longer ones fire at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** What waits need of their run. */
interface WaitHost {
  /** Begins work that must end before the run may rest. */
  readonly begin: (work: () => void) => void;
  /** Notes that such work has ended. */
  readonly end: () => void;
  /** Notes that the run could rest now. */
  readonly called: () => void;
  readonly after: (ms: number, callback: () => void) => void;
  readonly isOver: () => boolean;
  /** Whether a wait looks once and then leaves it to a later run. */
  readonly looksOnce: boolean;
}

/** The waits of one run: those that poll, and those whose time to do so is over. */
export class Waits {
  readonly #host: WaitHost;
  readonly #unsettled = new Set<Wait>();
  #polling = 0;

  constructor(host: WaitHost) {
    this.#host = host;
  }

  /** Whether there are waits, and the time of all of them is over. */
  get expired(): boolean {
    return this.#unsettled.size > 0 && this.#polling === 0;
  }

  /** The shortest time between two checks among those that have no value yet; undefined without any. */
  get every(): number | undefined {
    if (this.#unsettled.size === 0) return undefined;
    return Math.min(...Array.from(this.#unsettled, ({ every }) => every));
  }

  /** @throws RangeError when a time is out of its range. */
  start(wait: Wait): void {
    const { every, hold } = wait;
    if (!(every > 0) || !(hold >= 0)) throw new RangeError('every must be above 0 ms, and hold not below.');
    if (!(Math.max(every, hold) <= MAX_TIMER))
      throw new RangeError(`every and hold must be at most ${MAX_TIMER} ms.`);
    this.#unsettled.add(wait);
    this.#polling += 1;
    let waiting = true;
    let checking = false;
    const stop = (): void => {
      waiting = false;
      this.#polling -= 1;
    };
    const checked = (): void => {
      checking = false;
      this.#host.end();
    };
    const check = async (): Promise<void> => {
      if (!waiting) return;
      const result = await wait.check();
      if (this.#host.isOver() || !waiting) return;
      if ('value' in result && (result.value === undefined || result.value === null)) {
        if (this.#host.looksOnce) stop();
        else this.#host.after(every, poll);
      } else {
        stop();
        this.#unsettled.delete(wait);
        wait.settle(result);
      }
      checked();
    };
    const poll = (): void => {
      if (!waiting) return;
      checking = true;
      this.#host.begin(() => void check());
    };
    // Bounds a check that hangs, too. Room for one check is always given, or a short hold would see nothing.
    this.#host.after(Math.max(hold, every), () => {
      if (!waiting) return;
      stop();
      if (checking) checked();
      else this.#host.called();
    });
    poll();
  }
}
