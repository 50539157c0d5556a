/** When which fault was on. Written by the fault driver, read by whoever judges what was seen meanwhile. */

/**
 * What can be faulty for a while. `kill` and `stall` name the life of the server process that they hit. A store is
 * faulty also when only one process cannot reach it.
 */
export type FaultKind = 'kill' | 'stall' | 'redis' | 'postgres' | 'keys-dropped';

/** A fault and when it was on, in ms since 1970. */
export interface Fault {
  readonly kind: FaultKind;
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
  readonly life: string | undefined;
}

/** All faults of a run. */
export class Timeline {
  readonly #faults: Fault[] = [];
  /** What was sealed before this moment was sealed under a key that is gone from every server. */
  staleBefore = -Infinity;
  /** Counts the keys that came to seal on every server. What was sealed or stored in an older epoch may be lost. */
  epoch = 0;

  /** Notes that a fault begins. Set its `to` when it is over. */
  begin(kind: FaultKind, life?: string): Fault {
    const fault = { kind, from: Date.now(), to: Infinity, life };
    this.#faults.push(fault);
    return fault;
  }

  /** Notes a fault whose times are known. */
  add(kind: FaultKind, from: number, to: number, life?: string): void {
    this.#faults.push({ kind, from, to, life });
  }

  /** The faults of some kinds that were on at some time between two moments. */
  between(from: number, to: number, ...kinds: readonly FaultKind[]): readonly Fault[] {
    return this.#faults.filter((fault) => kinds.includes(fault.kind) && fault.from <= to && fault.to >= from);
  }
}
