import { execFileSync } from 'node:child_process';

/** Part of util-linux; elsewhere nothing is pinned. */
const TASKSET = 'taskset';

/** A processor each for the server and for its client. */
export interface Pinning {
  readonly server: number;
  readonly client: number;
}

/**
 * Picks two processors out of those that this process may use, and keeps all its threads on the client's from here on.
 *
 * @returns undefined where that is not possible: without `taskset`, or with one processor only.
 */
export function pinThisProcess(): Pinning | undefined {
  const [server, client] = allowedProcessors();
  if (server === undefined || client === undefined) return undefined;
  return taskset('-a', '-c', '-p', String(client), String(process.pid)) === undefined
    ? undefined
    : { server, client };
}

/** The command that starts another one on one processor. */
export function pinned(processor: number, command: readonly string[]): readonly string[] {
  return [TASKSET, '-c', String(processor), ...command];
}

/** What was pinned, in words. */
export function pinningText(pinning: Pinning | undefined): string {
  return pinning === undefined
    ? 'Not pinned: servers and client share all processors, so that requests a second are not those of one core'
    : `Pinned: each server runs on processor ${pinning.server} alone, the client on processor ${pinning.client}`;
}

function allowedProcessors(): readonly number[] {
  const text = taskset('-c', '-p', String(process.pid)) ?? '';
  return readProcessors(text.slice(text.lastIndexOf(':') + 1));
}

/** What it prints; undefined where there is none, or where it may not. */
function taskset(...args: readonly string[]): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return execFileSync(TASKSET, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return undefined;
  }
}

/** Reads a list of processors as taskset prints it: `0-2,5`. Nothing that is no such list gives a processor. */
export function readProcessors(list: string): readonly number[] {
  return list
    .trim()
    .split(',')
    .flatMap((part) => {
      const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
      if (first === undefined) return [];
      const from = Number(first);
      return Array.from({ length: Math.max(0, Number(last) - from + 1) }, (_, index) => from + index);
    });
}
