/**
 * An abort signal that is made only when somebody asks for it. Most flows never do, and a controller with
 * its listener is among the larger things that a short round would allocate.
 */
export class LazyAbort {
  #controller: AbortController | undefined;
  #aborted = false;

  /** The signal; made on first use, aborted already if the run is over. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Aborts the signal, now or as soon as it is made. */
  abort(reason?: unknown): void {
    this.#aborted = true;
    this.#controller?.abort(reason);
  }
}
