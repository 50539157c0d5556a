import { TaskLimit } from '../errors.js';
import type { AskedQuestion, KeyedQuestion, QuestionKind } from '../flow/index.js';

/** Keys that one task may use on the wire in its life: each is remembered, since none may come twice. */
const MAX_WIRES = 256;

/** A question as it stands in `tasks/get`. */
export interface OpenQuestion {
  readonly key: string;
  /** Its key on the wire. */
  readonly wire: string;
  readonly kind: QuestionKind;
  readonly method: string;
  readonly params: unknown;
}

/** What a run leaves for the next one, and for readers. */
export interface ParkedQuestions {
  readonly open: readonly OpenQuestion[];
  readonly asked: readonly AskedQuestion[];
  /** Every key that was ever on the wire (TASK-18). */
  readonly wires: readonly string[];
}

/** Nothing was asked yet. */
export const NOTHING_PARKED: ParkedQuestions = { open: [], asked: [], wires: [] };

/**
 * Gives each question its key on the wire: the one that it has while it is not answered and reads the same, else one
 * that this task never used (TASK-16, TASK-18).
 *
 * @param isAnswered whether an answer was taken under a wire of `before`; it was of no use, if the question is here again.
 * @throws TaskLimit `questions`.
 */
export function parkQuestions(
  before: ParkedQuestions,
  isAnswered: (wire: string) => boolean,
  questions: readonly KeyedQuestion[],
  asked: readonly AskedQuestion[],
): ParkedQuestions {
  const used = new Set(before.wires);
  const stands = new Map(before.open.filter(({ wire }) => !isAnswered(wire)).map((open) => [open.key, open]));
  // By their digests, and not by their text: the reason why it is asked again stands in the text once only.
  const digests = new Map(before.asked.map(({ key, digest }) => [key, digest]));
  const reads = new Map(asked.map(({ key, digest }) => [key, digest]));
  const open = questions.map(({ key, question: { kind, method, params } }): OpenQuestion => {
    const known = stands.get(key);
    if (known !== undefined && digests.get(key) === reads.get(key)) return known;
    const wire = unusedWire(key, used);
    used.add(wire);
    return { key, wire, kind, method, params };
  });
  if (used.size > MAX_WIRES) throw new TaskLimit('questions', MAX_WIRES);
  return { open, asked, wires: [...used] };
}

function unusedWire(key: string, used: ReadonlySet<string>): string {
  if (!used.has(key)) return key;
  let number = 2;
  while (used.has(`${key}~${number}`)) number += 1;
  return `${key}~${number}`;
}
