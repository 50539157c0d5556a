import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { auditProgress } from '../../src/audit/progress.js';

beforeEach(() => void vi.stubEnv('ACCESSIBLE', ''));
afterEach(() => void vi.unstubAllEnvs());

function output(isTTY: boolean) {
  let written = '';
  const stream = new Writable({
    write(chunk, _, done) {
      written += String(chunk);
      done();
    },
  });
  const screen = Object.assign(stream, { isTTY, columns: 20, rows: 5 }) as unknown as NodeJS.WriteStream;
  return { screen, written: () => written };
}

it('draws one line anew, no longer than the terminal is wide, and leaves none', () => {
  vi.stubEnv('TERM', 'xterm');
  const { screen, written } = output(true);
  const progress = auditProgress(screen);
  progress.say('Attack 1 of 35: state-reencoded');
  expect(written()).toContain('Attack 1 of 35: st…');
  expect(written()).not.toContain('\n');
  progress.done();
  expect(written()).toContain('\u001B[J');
});

it('writes a line each where the terminal cannot go back, and nothing where there is none', () => {
  vi.stubEnv('TERM', 'dumb');
  const plain = output(true);
  auditProgress(plain.screen).say('Attack 1 of 2: a');
  expect(plain.written()).toBe('Attack 1 of 2: a\n');
  const file = output(false);
  auditProgress(file.screen).say('x');
  auditProgress(undefined).say('x');
  expect(file.written()).toBe('');
});
