import type { ServerResponse } from 'node:http';

/** Responses that are under way, so that a server can wait for them before it stops. */
export class Drain {
  readonly #underWay = new Set<ServerResponse>();
  #draining = false;
  #onDrained: (() => void) | undefined;

  /** Counts a response until it is over. Once draining, its connection is closed after it. */
  enter(response: ServerResponse): void {
    this.#underWay.add(response);
    if (this.#draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.#underWay.delete(response);
      if (this.#underWay.size === 0) this.#onDrained?.();
    });
  }

  /**
   * Waits until no response is under way.
   *
   * @param patience in ms.
   * @returns whether all were over in that time.
   */
  async drain(patience: number): Promise<boolean> {
    this.#draining = true;
    for (const response of this.#underWay) if (!response.headersSent) response.shouldKeepAlive = false;
    if (this.#underWay.size === 0) return true;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), patience);
      this.#onDrained = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
