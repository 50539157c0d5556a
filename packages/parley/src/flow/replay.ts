import { Commits } from './commits.js';
import {
  isKeyed,
  readEntry,
  writeEntry,
  type Journal,
  type JournalEntry,
  type KeyedEntry,
  type SourceEntry,
} from './journal.js';
import type { Scheduler } from './scheduler.js';

/*
 * The order in which a run hands things to its handler. Invariants kept here:
 *
 *  R1  One thing is delivered at a time, and the next only after every promise reaction to it has run. Live
 *      and replayed runs both keep this, so a `Promise.race` has the same winner in each round.
 *  R2  Recorded entries are delivered in the order of the journal, before anything that settled in this run.
 *  R3  A recorded entry that the handler does not ask for holds up nothing for longer than two quiet turns
 *      of the event loop (the code changed, or waits for I/O outside of a step).
 *  R4  The journal that comes out is the order in which this run delivered, followed by what it did not ask
 *      for. Nothing recorded is ever lost.
 *  R5  A value that was drawn belongs to the delivery after which it was drawn, and falls with it.
 *  R6  The run is quiet when nothing can be delivered, no work is running, and two turns of the event loop
 *      have passed without a call into the flow.
 *  R7  Where lines are committed, what settled is handed over only when its entry, and all before it, is durable;
 *      everything else is held back until then. So the durable order is the order of delivery, and a run that
 *      goes on from it after a crash hands over the same, in the same order.
 *  R8  Of two entries under one key the later one counts, and what was drawn after the earlier one falls with it:
 *      a question that was asked again may have been answered just before a crash.
 */

type Delivery = () => void | Promise<void>;

/**
 * Hands over a recorded entry; a promise when the answer's schema checks asynchronously. It stays in the journal only
 * if `keep` is called.
 */
export type DeliverRecorded = (keep: () => void) => void | Promise<void>;

/** A recorded value of the clock or the random generator. */
interface Drawn {
  readonly value: SourceEntry['value'];
  readonly text: string;
}

interface Recorded {
  readonly entry: KeyedEntry;
  readonly text: string;
}

const SOURCES: readonly SourceEntry['type'][] = ['now', 'random', 'uuid'];

function slotOf(type: SourceEntry['type'], after: string | undefined): string {
  return after === undefined ? type : `${type} ${after}`;
}

/** Delivers what is recorded and what settles, and notices when a run has come to rest. */
export class Replay {
  readonly #scheduler: Scheduler;
  readonly #mayRest: () => boolean;
  readonly #onRest: () => void;
  readonly #fail: (error: unknown) => void;
  readonly #commits: Commits | undefined;
  readonly #recorded = new Map<string, Recorded>();
  readonly #order: string[] = [];
  #sources: Map<string, Drawn[]> | undefined;
  readonly #waiting = new Map<string, DeliverRecorded>();
  readonly #settled: Delivery[] = [];
  readonly #journal: string[] = [];
  #place: string | undefined;
  #cursor = 0;
  #running = 0;
  #calls = 0;
  #pumping = false;
  #watching = false;
  #stopped = false;

  constructor(options: {
    journal: Journal;
    scheduler: Scheduler;
    /** Whether the run could be suspended, were it quiet. */
    mayRest: () => boolean;
    /** Called when it may and is (R6). */
    onRest: () => void;
    /** Makes lines of the journal durable (R7). */
    commit: ((lines: readonly string[]) => Promise<void>) | undefined;
    /** Ends the run: its journal could not be made durable. */
    fail: (error: unknown) => void;
  }) {
    this.#scheduler = options.scheduler;
    this.#mayRest = options.mayRest;
    this.#onRest = options.onRest;
    this.#fail = options.fail;
    this.#commits = options.commit && new Commits(options.commit);
    for (const text of options.journal) {
      const entry = readEntry(text);
      if (isKeyed(entry)) {
        if (this.#recorded.has(entry.key)) this.#supersede(entry.key);
        this.#recorded.set(entry.key, { entry, text });
        this.#order.push(entry.key);
      } else {
        const slot = slotOf(entry.type, entry.after);
        this.#sources ??= new Map();
        const drawn = this.#sources.get(slot) ?? [];
        this.#sources.set(slot, drawn);
        drawn.push({ value: entry.value, text });
      }
    }
  }

  /** The recorded entry of a key that was not yet delivered. */
  find(key: string): KeyedEntry | undefined {
    return this.#recorded.get(key)?.entry;
  }

  /** Drops a recorded entry that no longer applies (its question reads differently now), and what was drawn after it. */
  forget(key: string): void {
    this.#recorded.delete(key);
    for (const type of SOURCES) this.#sources?.delete(slotOf(type, key));
  }

  /** A value of a source: the one recorded for this place, or else a new one. */
  draw<V extends SourceEntry['value']>(type: SourceEntry['type'], make: () => V): V {
    this.called();
    const recorded = this.#sources?.get(slotOf(type, this.#place))?.shift();
    if (recorded !== undefined) {
      this.#journal.push(recorded.text);
      return recorded.value as V;
    }
    const value = make();
    this.record({ type, value, ...(this.#place !== undefined && { after: this.#place }) });
    return value;
  }

  /** Delivers the recorded entry of a key, when its turn comes (R2). */
  deliverRecorded(key: string, deliver: DeliverRecorded): void {
    this.#waiting.set(key, deliver);
    this.called();
  }

  /** Records and hands over something that settled in this run, after what is recorded (R2, R7). */
  deliverLive(entry: KeyedEntry, handOver: () => void): void {
    const deliver = (): void => {
      this.#place = entry.key;
      handOver();
    };
    this.#settled.push(() => {
      this.record(entry);
      const pending = this.durable();
      return pending === undefined ? deliver() : this.whenDurable(pending, deliver);
    });
    this.#pump();
  }

  /** Adds an entry to the journal; of keyed ones when they are delivered, so that the order is the order of delivery. */
  record(entry: JournalEntry): void {
    if (this.#stopped) return;
    const line = writeEntry(entry);
    this.#journal.push(line);
    this.#commits?.add(line);
  }

  /** Resolves when all that was recorded so far is durable; undefined when it is, and where nothing is committed. */
  durable(): Promise<void> | undefined {
    return this.#commits?.flush();
  }

  /** Goes on after a commit, unless the run ended meanwhile; ends the run when the commit failed. */
  whenDurable(pending: Promise<void>, go: () => void): Promise<void> {
    return pending.then(() => {
      if (!this.#stopped) go();
    }, this.#fail);
  }

  /** Notes a call into the flow: the run is not quiet. */
  called(): void {
    this.#calls += 1;
    this.#pump();
  }

  /** Notes that work has begun which must end before the run may rest. */
  begin(): void {
    this.#running += 1;
  }

  /** Notes that such work has ended. */
  end(): void {
    this.#running -= 1;
    this.#pump();
  }

  /** The journal so far (R4). */
  journal(): Journal {
    if (this.#recorded.size === 0 && this.#sources === undefined) return [...this.#journal];
    const left = this.#order.flatMap((key) => this.#recorded.get(key)?.text ?? []);
    const undrawn = [...(this.#sources?.values() ?? [])].flat().map(({ text }) => text);
    return [...this.#journal, ...undrawn, ...left];
  }

  /** Ends all delivery and lets go of everything that waits. */
  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
    this.#settled.length = 0;
  }

  /** Makes room for a later entry of the same key (R8). */
  #supersede(key: string): void {
    this.forget(key);
    this.#order.splice(this.#order.indexOf(key), 1);
  }

  #pump(): void {
    if (this.#pumping || this.#stopped) return;
    this.#pumping = true;
    this.#scheduler.afterReactions(this.#afterReactions);
  }

  readonly #afterReactions = (): void => {
    if (this.#stopped) return;
    this.#pumping = false;
    const delivery = this.#next();
    if (delivery === undefined) {
      this.#watch();
      return;
    }
    const pending = delivery();
    if (pending === undefined) {
      this.#pump();
    } else {
      // Hold everything else back until this one is through (R1).
      this.#pumping = true;
      this.#running += 1;
      void pending.finally(() => {
        this.#pumping = false;
        this.end();
      });
    }
  };

  #next(): Delivery | undefined {
    while (this.#cursor < this.#order.length) {
      const key = this.#order[this.#cursor] ?? '';
      if (this.#recorded.has(key)) break;
      this.#cursor += 1;
    }
    const key = this.#order[this.#cursor];
    if (key !== undefined && this.#waiting.has(key)) return this.#takeRecorded(key);
    // What is recorded comes first, also while it was not asked for yet (R2); `#skip` bounds that wait (R3).
    return key !== undefined || this.#waiting.size > 0 ? undefined : this.#settled.shift();
  }

  #takeRecorded(key: string): Delivery | undefined {
    const deliver = this.#waiting.get(key);
    const recorded = this.#recorded.get(key);
    this.#waiting.delete(key);
    this.#recorded.delete(key);
    if (deliver === undefined || recorded === undefined) return undefined;
    return () =>
      deliver(() => {
        this.#place = key;
        this.#journal.push(recorded.text);
      });
  }

  /** Counts quiet turns, as long as there is something to do once two have passed (R3, R6). */
  #watch(): void {
    if (this.#watching || this.#stopped || !this.#couldMove()) return;
    this.#watching = true;
    let seen = this.#calls;
    let quiet = 0;
    const turn = (): void => {
      if (this.#stopped) return;
      if (this.#pumping || !this.#couldMove()) {
        this.#watching = false;
        return;
      }
      quiet = this.#calls === seen ? quiet + 1 : 0;
      seen = this.#calls;
      if (quiet < 2) {
        this.#scheduler.afterTurn(turn);
        return;
      }
      this.#watching = false;
      if (this.#waiting.size > 0 || this.#settled.length > 0) this.#skip();
      else this.#onRest();
    };
    this.#scheduler.afterTurn(turn);
  }

  #couldMove(): boolean {
    return this.#waiting.size > 0 || this.#settled.length > 0 || (this.#running === 0 && this.#mayRest());
  }

  /** Goes on with the earliest recorded entry that somebody waits for; those before it stay for later (R3). */
  #skip(): void {
    const index = this.#order.findIndex((key) => this.#waiting.has(key));
    this.#cursor = index === -1 ? this.#order.length : index;
    this.#pump();
  }
}
