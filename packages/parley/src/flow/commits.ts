/**
 * Makes lines durable in their order: one commit at a time, and whatever came meanwhile in the next. After one that
 * failed nothing is committed any more: what came later must not be durable without it.
 */
export class Commits {
  readonly #commit: (lines: readonly string[]) => Promise<void>;
  #waiting: string[] = [];
  #underWay: Promise<void> | undefined;

  constructor(commit: (lines: readonly string[]) => Promise<void>) {
    this.#commit = commit;
  }

  /** Adds a line to what the next commit takes. */
  add(line: string): void {
    this.#waiting.push(line);
  }

  /** Resolves when every line that was added so far is durable; undefined when all are. Rejects as the commit did. */
  flush(): Promise<void> | undefined {
    if (this.#waiting.length === 0) return this.#underWay;
    const pending = (this.#underWay ?? Promise.resolve()).then(() => this.#take());
    this.#underWay = pending;
    pending.then(
      () => {
        if (this.#underWay === pending) this.#underWay = undefined;
      },
      () => undefined,
    );
    return pending;
  }

  async #take(): Promise<void> {
    const lines = this.#waiting;
    this.#waiting = [];
    if (lines.length > 0) await this.#commit(lines);
  }
}
