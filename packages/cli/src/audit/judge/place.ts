import type { AuditContext, Exchange, Pause } from '../attack.js';
import { questionsIn, shapeOfQuestion, type Questions } from './questions.js';

/**
 * Where a flow stands after a retry, seen from the pause that was retried: it asks the `same`, what an honest flow asks
 * `next`, what came `earlier`, or something `else`; or it is over.
 */
export type Place =
  'refused' | 'tool-error' | 'same' | 'next' | 'earlier' | 'else' | 'done' | 'task' | 'failed';

/** Tells where a flow stands. */
export function placeOf(context: AuditContext, pause: Pause, { outcome, reply }: Exchange): Place {
  if (outcome.kind !== 'asked') return outcome.kind;
  const questions = questionsIn(reply.result);
  const { pauses } = context.honest;
  const next = pauses[pause.round];
  const isNext = next !== undefined && isLike(questions, next.questions);
  if (isLike(questions, pause.questions)) {
    // A flow may ask by one key and shape for ever; then only the whole question tells the rounds apart.
    return isNext && isEqual(questions, next.questions) && !isEqual(questions, pause.questions)
      ? 'next'
      : 'same';
  }
  if (isNext) return 'next';
  return pauses.slice(0, pause.round - 1).some((earlier) => isLike(questions, earlier.questions))
    ? 'earlier'
    : 'else';
}

/** Whether all that is asked belongs to a round. Only a part of it may be asked again, in other words. */
function isLike(questions: Questions, round: Questions): boolean {
  const asked = Object.entries(questions);
  if (asked.length === 0) return Object.keys(round).length === 0;
  return asked.every(([key, question]) => {
    const known = Object.hasOwn(round, key) ? round[key] : undefined;
    return known !== undefined && shapeOfQuestion(known) === shapeOfQuestion(question);
  });
}

function isEqual(a: Questions, b: Questions): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
