/**
 * Holds what clients saw of their tasks against what was done.
 *
 *  K1  Every task ended: completed, or cancelled where its client asked for that. None failed, none is an error.
 *  K2  No answer was lost: the result holds, for each question, a word that was sent while it was open, and of a
 *      question that was asked again the last.
 *  K3  The effect of `once` was never doubled. It was done where the result says so; in a transaction it is never
 *      unknown.
 *  K4  No wire key was used twice, nor shown again once its answer was acknowledged (seen by the client).
 *  K5  What has ended reads the same at the end of the run, after all that was sent to it.
 *  K6  One round made one task, however often it came.
 *  K7  What a question showed of a step is what the result has of it: what was delivered was durable.
 */
import type { Reply } from './client.js';
import type { Deed } from './effects.js';
import type { ErrandReport, Sighting } from './errand.js';
import { madeIn, type ErrandResult } from './wire.js';

/** Everything that was seen. */
export interface Seen {
  readonly reports: readonly ErrandReport[];
  /** How each task reads at the end of the run, by its id. */
  readonly last: ReadonlyMap<string, Reply>;
  readonly deeds: readonly Deed[];
}

/** What must not have been, one text each. */
export function* check({ reports, last, deeds }: Seen): Iterable<string> {
  const effects = countEffects(deeds);
  for (const [flow, count] of effects) if (count > 1) yield `flow ${flow} had its effect ${count} times`;
  for (const report of reports) {
    const { label } = report.arguments;
    for (const violation of checkErrand(report, last, effects)) yield `${label}: ${violation}`;
  }
}

/** The result of an errand; undefined when it has none. */
export function resultOf({ end }: ErrandReport): ErrandResult | undefined {
  const text = end?.result?.content?.[0]?.text;
  if (end?.status !== 'completed' || end.result?.isError === true || text === undefined) return undefined;
  return JSON.parse(text) as ErrandResult;
}

function* checkErrand(
  report: ErrandReport,
  last: ReadonlyMap<string, Reply>,
  effects: ReadonlyMap<string, number>,
): Iterable<string> {
  const { taskIds, end, cancelled, violations } = report;
  yield* violations;
  if (taskIds.size > 1) yield `one round made ${taskIds.size} tasks`;
  if (end === undefined) {
    yield 'did not end';
    return;
  }
  for (const id of taskIds) {
    if (JSON.stringify(last.get(id)) !== JSON.stringify(end)) {
      yield `ended as ${JSON.stringify(end)}, and reads ${JSON.stringify(last.get(id))}`;
    }
  }
  if (end.status === 'cancelled') {
    if (!cancelled) yield 'was cancelled by nobody';
    return;
  }
  const result = resultOf(report);
  if (result === undefined) yield `ended as ${JSON.stringify(end)}`;
  else yield* checkResult(report, result, effects);
}

function* checkResult(
  { arguments: args, sightings }: ErrandReport,
  { label, flow, steps, words, effect }: ErrandResult,
  effects: ReadonlyMap<string, number>,
): Iterable<string> {
  if (label !== args.label) yield `was answered with the result of ${label}`;
  const done = effects.get(flow) ?? 0;
  if (effect === 'done' && done !== 1) yield `says that its effect was done, which was done ${done} times`;
  if (effect === 'unknown' && args.effective === 'transaction')
    yield 'does not know what came of a transaction';
  for (const [index, key] of ['first', 'second'].entries()) {
    const asked = sightings.filter(({ wire }) => wire === key || wire.startsWith(`${key}~`));
    const final = asked.at(-1);
    if (!final?.words.includes(words[index] ?? '')) {
      yield `answered ${JSON.stringify(asked.map(told))} to '${key}', and the result has '${words[index]}'`;
    }
    const made = madeIn(final?.message ?? '');
    if (made !== steps[args.together ? 0 : index])
      yield `'${key}' showed ${made}, and the result has ${steps.join()}`;
  }
}

function told({ wire, words }: Sighting): string {
  return `${wire}: ${words.join(' or ')}`;
}

function countEffects(deeds: readonly Deed[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, flow } of deeds) if (kind === 'effect') counts.set(flow, (counts.get(flow) ?? 0) + 1);
  return counts;
}
