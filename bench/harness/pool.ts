import { isMet, type Line, type RowResult, type Verdict } from './row.js';
import { summarize, type Summary } from './stats.js';

/** One result of several processes that measured the same row: the medians of what they found. */
export function pool(results: readonly RowResult[]): RowResult | undefined {
  const [first] = results;
  if (first === undefined || results.length === 1) return first;
  return {
    ...first,
    lines: first.lines.map((line, index) =>
      poolLine(
        line,
        results.flatMap(({ lines }) => lines[index] ?? []),
      ),
    ),
    verdicts: first.verdicts.map((verdict, index) =>
      poolVerdict(
        verdict,
        results.flatMap(({ verdicts }) => verdicts[index] ?? []),
      ),
    ),
    seconds: results.reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

function poolLine(line: Line, same: readonly Line[]): Line {
  const value = poolSummary(same.map((one) => one.value));
  const ratios = same.flatMap((one) => one.ratio ?? []);
  return ratios.length === 0 ? { ...line, value } : { ...line, value, ratio: poolSummary(ratios) };
}

function poolSummary(summaries: readonly Summary[]): Summary {
  const middle = (member: keyof Summary): number =>
    summarize(summaries.map((summary) => summary[member])).median;
  const rounds = summaries.reduce((sum, summary) => sum + summary.rounds, 0);
  return { median: middle('median'), p10: middle('p10'), p90: middle('p90'), rounds };
}

function poolVerdict(verdict: Verdict, same: readonly Verdict[]): Verdict {
  const value = summarize(same.map((one) => one.value)).median;
  return { ...verdict, value, met: isMet(value, verdict.target) };
}
