import type { CallIo } from './call-io.js';

/** Whether stdout is written to in colours: they are for people, and for terminals that have them (no-color.org). */
export function hasColors({ isTerminal, env }: Pick<CallIo, 'isTerminal' | 'env'>): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}
