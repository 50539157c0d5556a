import type { Answers, FormQuestion, Question, UrlQuestion } from 'mcp-parley/client';
import { isJsonObject, parseJsonObject, type JsonObject } from './json-input.js';
import { EXIT, Ended, WrongUse } from './outcome.js';
import { inQuotes } from './quoted.js';
import { harmlessLine } from './safe-text.js';
import { readTextFile } from './text-input.js';

/** What a file says to one question, each time that it is asked. */
interface Entry {
  readonly values: readonly JsonObject[];
  /** How many of them were taken. */
  taken: number;
}

/**
 * Answers from a file, by the key of the question: the content of a form, or an answer as it is on the wire
 * (`{ "action": "decline" }`). Each is taken once. A question that is asked again may read differently, and what was
 * said to the first must not be said to the second: a list holds an answer for each time.
 */
export class AnswersFile {
  readonly #path: string;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(path: string, entries: ReadonlyMap<string, Entry>) {
    this.#path = path;
    this.#entries = entries;
  }

  /** @throws WrongUse when there is no such file, or it is none of answers. */
  static async read(path: string): Promise<AnswersFile> {
    const shown = harmlessLine(path);
    const file = parseJsonObject(await readTextFile(path), shown);
    const entries = Object.entries(file).map(([key, value]): [string, Entry] => {
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      if (values.length === 0 || !values.every(isJsonObject)) {
        const name = inQuotes(key);
        throw new WrongUse(
          `${shown}: the answer to ${name} is not an object. It is the content of the form ({ "field": … }), ` +
            `{ "action": "decline" }, or a list of those.`,
        );
      }
      return [key, { values, taken: 0 }];
    });
    return new AnswersFile(shown, new Map(entries));
  }

  /** Its path, harmless. */
  get path(): string {
    return this.#path;
  }

  /** Whether the next asking of a question has an answer. */
  has(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.taken < entry.values.length;
  }

  /** How often a question was answered from here. */
  timesTaken(key: string): number {
    return this.#entries.get(key)?.taken ?? 0;
  }

  /**
   * The next answer to a form, or `undefined` when there is none. Whether it fits is for the driver to say.
   *
   * @throws Ended when it cannot be told what is meant.
   */
  takeForm(question: FormQuestion): Answers['form'] | undefined {
    const value = this.#take(question);
    if (value === undefined) return undefined;
    const action = wireAction(value);
    if (action === undefined) return { action: 'accept', content: value };
    const { content } = value;
    if (content === undefined && Object.hasOwn(question.schema.properties, 'action')) {
      throw this.#unclear(
        question,
        `is for a form with a field 'action'. Say which is meant: { "action": "accept", "content": { "action": … } }, ` +
          `or { "action": "decline", "content": {} }.`,
      );
    }
    return action === 'accept' ? { action, content: content as JsonObject } : { action };
  }

  /**
   * The next answer to a page that is to be opened, or `undefined` when there is none.
   *
   * @throws Ended when it is neither consent nor a refusal.
   */
  takeUrl(question: UrlQuestion): Answers['url'] | undefined {
    const value = this.#take(question);
    if (value === undefined) return undefined;
    const action = wireAction(value);
    if (action !== undefined) return { action };
    throw this.#unclear(
      question,
      `is for a page to be opened. It is { "action": "accept" } or { "action": "decline" }.`,
    );
  }

  /** What was never taken, in words, for the person who wrote the file. */
  leftovers(): string[] {
    return [...this.#entries].flatMap(([key, { values, taken }]) => {
      if (taken === values.length) return [];
      const name = inQuotes(key);
      return taken === 0
        ? [`${this.#path}: no question ${name} was asked.`]
        : [`${this.#path}: ${name} has ${values.length} answers, and was asked ${taken} times.`];
    });
  }

  #take({ key }: Question): JsonObject | undefined {
    const entry = this.#entries.get(key);
    const value = entry?.values[entry.taken];
    if (entry !== undefined && value !== undefined) entry.taken += 1;
    return value;
  }

  #unclear({ key }: Question, reason: string): Ended {
    return new Ended(EXIT.waiting, `${this.#path}: the answer to ${inQuotes(key)} ${reason}`);
  }
}

/** What an answer in the form of the wire says, or `undefined` for one that is the content of a form. */
function wireAction(value: JsonObject): 'accept' | 'decline' | 'cancel' | undefined {
  const { action } = value;
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') return undefined;
  return Object.keys(value).every((name) => name === 'action' || name === 'content') ? action : undefined;
}
