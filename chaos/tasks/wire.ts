/** What the workers and the clients of the tasks run agree on: arguments and results of the tool `errand`. */

/** Arguments of `errand`. */
export interface ErrandArguments {
  /** Unlike every other errand's. */
  readonly label: string;
  /** Whether its two questions are asked at once. */
  readonly together: boolean;
  /** Where its effect is: a line in a file, or a row that commits together with the claim. */
  readonly effective: 'log' | 'transaction';
}

/** What `errand` ends with, as JSON in a text. */
export interface ErrandResult {
  readonly label: string;
  readonly flow: string;
  /** What its three steps made. */
  readonly steps: readonly string[];
  /** What was answered to its two questions. */
  readonly words: readonly string[];
  readonly effect: 'done' | 'unknown';
}

/** A question shows what a step made before, so that the client can hold the result against it. */
export function questionOf(label: string, key: string, made: string): string {
  return `The ${key} word for ${label}, of ${made}?`;
}

/** What a step made, as a question shows it. */
export function madeIn(message: string): string | undefined {
  return /, of (\S+)\?/.exec(message)?.[1];
}

/** Shortest word that is taken, in characters. */
export const SHORTEST = 4;
