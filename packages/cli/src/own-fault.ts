import { harmless } from './safe-text.js';

/** Lines of the stack that are shown: enough to find the place. */
const FRAMES = 8;

/**
 * What is said of an error that nothing expected: its kind, and where it came from. Its message may quote a response, or
 * what was sent, and with that a secret; so it is left out.
 */
export function describeOwnFault(error: unknown): string {
  const isError = error instanceof Error;
  const stack = isError ? (error.stack ?? '').replace(error.message, '') : '';
  const frames = stack.split('\n').filter((line) => /^ +at /.test(line));
  const lines = [
    `parley: This is a fault of parley itself (${isError ? error.name : typeof error}).`,
    ...frames.slice(0, FRAMES),
  ];
  return harmless(`${lines.join('\n')}\n`);
}
