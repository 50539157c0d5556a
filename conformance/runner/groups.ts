import type { ScenarioResult } from './results.js';

/** Scenarios that are counted together. */
export interface Group {
  readonly name: string;
  readonly scenarios: readonly ScenarioResult[];
  /** Scenarios that the suite may skip by itself. */
  readonly skippable: readonly string[];
}

/**
 * Puts a group together. A scenario without a result did not run, which counts as failed.
 *
 * @param skippable scenarios that count as passed when the suite skips all that they would look at.
 */
export function group(
  name: string,
  scenarios: readonly string[],
  results: ReadonlyMap<string, ScenarioResult>,
  skippable: readonly string[] = [],
): Group {
  return { name, scenarios: scenarios.map((name) => results.get(name) ?? didNotRun(name)), skippable };
}

function didNotRun(name: string): ScenarioResult {
  const problem = { id: 'run', status: 'FAILURE', errorMessage: 'It did not run; --verbose shows why.' };
  return { name, outcome: 'failed', problems: [problem] };
}

/** Whether all scenarios of all groups passed. */
export function allPassed(groups: readonly Group[]): boolean {
  return groups.every((group) => group.scenarios.length > 0 && failedIn(group).length === 0);
}

function failedIn({ scenarios, skippable }: Group): readonly ScenarioResult[] {
  return scenarios.filter(
    ({ name, outcome }) => outcome === 'failed' || (outcome === 'skipped' && !skippable.includes(name)),
  );
}

/** One line a group, then what failed: each scenario once, whichever groups it is in. */
export function report(groups: readonly Group[]): string {
  const counts = groups.map((group) => {
    const { name, scenarios } = group;
    return `${name} ${scenarios.length - failedIn(group).length}/${scenarios.length}${remark(scenarios)}`;
  });
  const failed = new Map(groups.flatMap(failedIn).map((scenario) => [scenario.name, scenario]));
  return [...counts, ...[...failed.values()].flatMap(describe)].join('\n');
}

/** What is behind a count that a reader could not guess. */
function remark(scenarios: readonly ScenarioResult[]): string {
  const skipped = scenarios.filter(({ outcome }) => outcome === 'skipped').length;
  return skipped === 0 ? '' : ` (the suite itself skips ${skipped} of them)`;
}

function describe({ name, problems }: ScenarioResult): string[] {
  const lines = problems.map(
    ({ id, status, errorMessage, description }) =>
      `    ${status.toLowerCase()} ${id}: ${errorMessage ?? description ?? 'no message'}`,
  );
  return ['', `✗ ${name}`, ...(lines.length > 0 ? lines : ['    none of its checks succeeded'])];
}
