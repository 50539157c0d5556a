import { AnswerInvalid, QuestionUnstable, TooManyQuestions } from '../errors.js';
import { ownAnswer, readAnswer, type RawAnswers } from './answer.js';
import type { Answer, AnswerEntry, InvalidAnswerEntry } from './journal.js';
import type { FlowLimits } from './limits.js';
import { questionText, withReason, type Question } from './question.js';
import type { Replay } from './replay.js';

/*
 * From a question to its answer. Invariants kept here:
 *
 *  Q1  An answer is taken only under a key that the last sealed round asked, and only if the question then
 *      read as it reads now. On a first request, without state, an answer is taken unless the question is fresh.
 *  Q2  A recorded answer holds only for the question that it was given to: one that reads differently is
 *      asked again, and its old answer dropped.
 *  Q3  What is missing, of another kind or too large is asked again. What does not fit the schema is asked
 *      again with the reason, at most `limits.attempts` times.
 *  Q4  What a client sends under other keys is never looked at, and never recorded.
 */

/** A question that the last round asked, as its sealed state tells. */
export interface AskedQuestion {
  readonly key: string;
  /** Digest of the question as the user saw it. */
  readonly digest: string;
  /** Answers that did not fit the schema so far. */
  readonly attempts?: number;
  /** Rounds in a row in which the question read differently. */
  readonly changes?: number;
}

/** What an answer means to the call that asked. */
export type Reading<T> =
  | { readonly type: 'value'; readonly value: T; readonly answer: Answer }
  | { readonly type: 'error'; readonly error: Error; readonly answer: Answer }
  | { readonly type: 'unusable'; readonly reason: string };

/** One call that asks something. */
export interface Ask<T> {
  readonly key: string;
  readonly question: Question;
  readonly fresh: boolean;
  /** Reads a checked answer; asynchronous only when the author's schema is. */
  readonly read: (answer: Answer) => Reading<T> | Promise<Reading<T>>;
}

/** A question without an answer: it goes out when the run comes to rest. */
interface Pending {
  readonly key: string;
  readonly question: Question;
  readonly digest: string;
  readonly attempts: number;
  readonly changes: number;
  readonly reason?: string;
  /** Tries again, with answers that came while the run was held in memory. */
  readonly retry: () => void;
}

/** A round in which one question changes is honest (a redeploy); three in a row are a moving text. */
const MAX_CHANGES = 3;

interface Settle<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

/** The questions of one run. */
export class Questions {
  readonly #pending = new Map<string, Pending>();
  readonly #replay: Replay;
  readonly #limits: FlowLimits;
  readonly #digest: (text: string) => string;
  readonly #fail: (error: Error) => void;
  #asked: ReadonlyMap<string, AskedQuestion> | undefined;
  #answers: RawAnswers;

  constructor(options: {
    replay: Replay;
    limits: FlowLimits;
    digest: (text: string) => string;
    /** Ends the run: the flow itself is at fault, not one of its calls. */
    fail: (error: Error) => void;
    asked: readonly AskedQuestion[] | undefined;
    answers: RawAnswers;
  }) {
    this.#replay = options.replay;
    this.#limits = options.limits;
    this.#digest = options.digest;
    this.#fail = options.fail;
    this.#asked = options.asked && new Map(options.asked.map((question) => [question.key, question]));
    this.#answers = options.answers;
  }

  /** How many questions wait for an answer. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Whether a question waits for an answer. */
  has(key: string): boolean {
    return this.#pending.has(key);
  }

  /** Settles the call with its recorded answer, with one that came in this round, or leaves it pending. */
  ask<T>(ask: Ask<T>, recorded: AnswerEntry | InvalidAnswerEntry | undefined, settle: Settle<T>): void {
    const digest = this.#digest(questionText(ask.question));
    if (recorded !== undefined && recorded.question !== digest) {
      this.#replay.forget(ask.key); // Q2
    } else if (recorded !== undefined) {
      this.#replay.deliverRecorded(ask.key, (keep) => {
        if (recorded.type === 'answer-invalid') {
          keep();
          settle.reject(new AnswerInvalid(recorded.key, recorded.attempts, recorded.reason));
          return undefined;
        }
        return whenRead(
          () => ask.read(recorded.answer),
          (reading) => {
            if (reading.type === 'unusable') {
              this.#replay.forget(ask.key);
              return this.#leave(ask, digest, settle, { reason: reading.reason });
            }
            keep();
            finish(reading, settle);
          },
        );
      });
      return;
    }
    this.#tryAnswer(ask, digest, settle);
  }

  /** Takes answers that came while the run was held in memory, as if a next round had brought them. */
  answer(answers: RawAnswers, asked: readonly AskedQuestion[]): void {
    this.#asked = new Map(asked.map((question) => [question.key, question]));
    this.#answers = answers;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const question of pending) question.retry();
  }

  /** The pending questions as they go out, in the order in which they were asked. */
  questions(): { readonly key: string; readonly question: Question }[] {
    if (this.#pending.size > this.#limits.questions)
      throw new TooManyQuestions(this.#pending.size, this.#limits.questions);
    return Array.from(this.#pending.values(), ({ key, question, reason }) => ({
      key,
      question: reason === undefined ? question : withReason(question, reason),
    }));
  }

  /** What the next round must know of the pending questions. */
  asked(): AskedQuestion[] {
    return Array.from(this.#pending.values(), ({ key, digest, attempts, changes }) =>
      attempts === 0 && changes === 0
        ? { key, digest }
        : { key, digest, ...(attempts > 0 && { attempts }), ...(changes > 0 && { changes }) },
    );
  }

  #tryAnswer<T>(ask: Ask<T>, digest: string, settle: Settle<T>): void {
    const before = this.#asked?.get(ask.key);
    if (before !== undefined && before.digest !== digest) {
      const changes = (before.changes ?? 0) + 1;
      if (changes >= MAX_CHANGES) this.#fail(new QuestionUnstable(ask.key, changes));
      else this.#leave(ask, digest, settle, { changes });
      return;
    }
    const attempts = before?.attempts ?? 0;
    const mayTake = this.#asked === undefined ? !ask.fresh : before !== undefined; // Q1
    const raw = mayTake ? ownAnswer(this.#answers, ask.key) : undefined;
    const answer =
      raw === undefined ? undefined : readAnswer(ask.question.kind, raw, this.#limits.answerBytes);
    if (answer === undefined) {
      this.#leave(ask, digest, settle, { attempts });
      return;
    }
    this.#replay.begin();
    void whenRead(
      () => ask.read(answer),
      (reading) => {
        if (reading.type === 'unusable') this.#refuse(ask, digest, settle, attempts + 1, reading.reason);
        else {
          this.#replay.deliverLive(
            { type: 'answer', key: ask.key, question: digest, answer: reading.answer },
            () => finish(reading, settle),
          );
        }
        this.#replay.end();
      },
    );
  }

  #refuse<T>(ask: Ask<T>, digest: string, settle: Settle<T>, attempts: number, reason: string): void {
    if (attempts < this.#limits.attempts) {
      this.#leave(ask, digest, settle, { attempts, reason });
      return;
    }
    this.#replay.deliverLive(
      { type: 'answer-invalid', key: ask.key, question: digest, attempts, reason },
      () => settle.reject(new AnswerInvalid(ask.key, attempts, reason)),
    );
  }

  #leave<T>(
    ask: Ask<T>,
    digest: string,
    settle: Settle<T>,
    more: { attempts?: number; changes?: number; reason?: string },
  ): void {
    this.#pending.set(ask.key, {
      key: ask.key,
      question: ask.question,
      digest,
      attempts: more.attempts ?? 0,
      changes: more.changes ?? 0,
      ...(more.reason !== undefined && { reason: more.reason }),
      retry: () => this.#tryAnswer(ask, digest, settle),
    });
    this.#replay.called();
  }
}

function finish<T>(reading: Exclude<Reading<T>, { type: 'unusable' }>, settle: Settle<T>): void {
  if (reading.type === 'value') settle.resolve(reading.value);
  else settle.reject(reading.error);
}

/** Goes on at once with what is there, and later with what is promised. A schema that throws counts as a refusal. */
function whenRead<T>(
  read: () => Reading<T> | Promise<Reading<T>>,
  go: (reading: Reading<T>) => void,
): void | Promise<void> {
  let reading: Reading<T> | Promise<Reading<T>>;
  try {
    reading = read();
  } catch {
    reading = { type: 'unusable', reason: 'it could not be checked.' };
  }
  if (!isThenable(reading)) return go(reading);
  return Promise.resolve(reading)
    .catch((): Reading<T> => ({ type: 'unusable', reason: 'it could not be checked.' }))
    .then(go);
}

/** Standard Schemas of other realms and libraries promise with objects of their own. */
function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
