import type { ScenarioResult } from './results.js';

/** Scenarios that are counted together. */
export interface Group {
  readonly name: string;
  readonly scenarios: readonly ScenarioResult[];
}

/** Puts a group together. A scenario without a result did not run, which counts as failed. */
export function group(
  name: string,
  scenarios: readonly string[],
  results: ReadonlyMap<string, ScenarioResult>,
): Group {
  return { name, scenarios: scenarios.map((name) => results.get(name) ?? didNotRun(name)) };
}

function didNotRun(name: string): ScenarioResult {
  const problem = { id: 'run', status: 'FAILURE', errorMessage: 'It did not run; --verbose shows why.' };
  return { name, passed: false, problems: [problem] };
}

/** Whether all scenarios of all groups passed. */
export function allPassed(groups: readonly Group[]): boolean {
  return groups.every(({ scenarios }) => scenarios.length > 0 && scenarios.every(({ passed }) => passed));
}

/** One line a group, then what failed: each scenario once, whichever groups it is in. */
export function report(groups: readonly Group[]): string {
  const counts = groups.map(({ name, scenarios }) => {
    const passed = scenarios.filter((scenario) => scenario.passed).length;
    return `${name} ${passed}/${scenarios.length}`;
  });
  const failed = new Map(
    groups
      .flatMap(({ scenarios }) => scenarios)
      .filter(({ passed }) => !passed)
      .map((scenario) => [scenario.name, scenario]),
  );
  return [...counts, ...[...failed.values()].flatMap(describe)].join('\n');
}

function describe({ name, problems }: ScenarioResult): string[] {
  const lines = problems.map(
    ({ id, status, errorMessage, description }) =>
      `    ${status.toLowerCase()} ${id}: ${errorMessage ?? description ?? 'no message'}`,
  );
  return ['', `✗ ${name}`, ...(lines.length > 0 ? lines : ['    none of its checks succeeded'])];
}
