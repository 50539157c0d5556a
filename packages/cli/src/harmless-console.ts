import { format } from 'node:util';
import { harmless } from './safe-text.js';

/**
 * Sends what libraries write to the console to stderr, made harmless: the official client names a server's tools
 * there, and stdout is for results.
 */
export function makeConsoleHarmless(err: (text: string) => void): void {
  for (const method of ['debug', 'error', 'info', 'log', 'warn'] as const) {
    console[method] = (...parts: readonly unknown[]) => err(`${harmless(format(...parts))}\n`);
  }
}
