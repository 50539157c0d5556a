import type { Json } from './json.js';

/** What the client answered, after it was checked. Which member holds what depends on the question's kind. */
export type Answer =
  | { readonly action: 'accept'; readonly content?: { readonly [property: string]: Json } }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' }
  | { readonly result: { readonly [member: string]: Json } };

/** A step that succeeded, or a `waitFor` that got its value. `value` is absent when a step returned nothing. */
export interface DoneEntry {
  readonly type: 'step' | 'wait' | 'once';
  readonly key: string;
  readonly value?: Json;
}

/** A step, or the check of a wait, that threw: what a replay needs to throw the same. */
export interface FailedEntry {
  readonly type: 'step-failed' | 'wait-failed' | 'once-failed';
  readonly key: string;
  readonly name: string;
  readonly message: string;
  /** Set when the work succeeded and its result was no JSON: where, and what was found there. */
  readonly notJson?: { readonly path: string; readonly found: string };
  /** Set when it is not known whether the work was done. */
  readonly unknown?: true;
}

/** An answer, pinned to the digest of the question that the user saw. */
export interface AnswerEntry {
  readonly type: 'answer';
  readonly key: string;
  readonly question: string;
  readonly answer: Answer;
}

/** A question that got no usable answer in `limits.attempts` rounds; replayed as the same error. */
export interface InvalidAnswerEntry {
  readonly type: 'answer-invalid';
  readonly key: string;
  readonly question: string;
  readonly attempts: number;
  readonly reason: string;
}

/** The place from which the flow went on as a task. Its key is one that no author can use. */
export interface DetachEntry {
  readonly type: 'detach';
  readonly key: string;
}

/**
 * A value taken from the clock or the random generator. It belongs to the place where it was drawn: after which
 * delivery, and which of its kind there. Counted over the whole run, a draw that falls away in one branch would
 * shift those of all others.
 */
export interface SourceEntry {
  readonly type: 'now' | 'random' | 'uuid';
  readonly value: number | string;
  /** Key of the entry that was delivered last; absent before the first delivery. */
  readonly after?: string;
}

/** An entry that has a key: something that the flow waited for. */
export type KeyedEntry = DoneEntry | FailedEntry | AnswerEntry | InvalidAnswerEntry | DetachEntry;

/** One line of a journal. Entries are plain JSON: they travel as they are. */
export type JournalEntry = KeyedEntry | SourceEntry;

/**
 * The record of a flow, in the order in which things were settled: one JSON text an entry.
 *
 * Texts rather than objects, because a handler may change what it was given (sort a list, add a member) and
 * the record must not change with it; and because an entry is then written once in the life of a flow, not
 * once a round.
 */
export type Journal = readonly string[];

/** The text of an entry. Never holds a line break: JSON escapes them. */
export function writeEntry(entry: JournalEntry): string {
  return JSON.stringify(entry);
}

/** The entry that a text of {@link writeEntry} holds. Journals are authenticated, so their shape is taken as read. */
export function readEntry(text: string): JournalEntry {
  return JSON.parse(text) as JournalEntry;
}

/** Whether an entry has a key and takes part in the order of delivery. */
export function isKeyed(entry: JournalEntry): entry is KeyedEntry {
  return 'key' in entry;
}

/** How the words of an error name an entry's kind. */
export function describeEntry(entry: KeyedEntry): string {
  switch (entry.type) {
    case 'step':
    case 'step-failed':
      return 'a step';
    case 'wait':
    case 'wait-failed':
      return 'a wait';
    case 'once':
    case 'once-failed':
      return 'work done once';
    case 'answer':
    case 'answer-invalid':
      return 'a question';
    case 'detach':
      return 'a detach';
  }
}
