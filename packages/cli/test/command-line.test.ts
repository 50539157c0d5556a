import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { takesServerCommand, takeServerCommand } from '../src/command-line.js';

/** What commander would read, and what the command would get as its program. */
function split(...args: string[]): { args: string[]; program: unknown } {
  const parley = new Command('parley').exitOverride();
  const call = takesServerCommand(parley.command('call'))
    .option('--output <format>')
    .option('--quiet')
    .option('-a <x>');
  parley.command('keygen');
  return { args: takeServerCommand(parley, args), program: call.opts()['serverCommand'] };
}

describe('a command line with a program behind --', () => {
  it.each([
    [
      ['call', 'deploy', 'a=b', '--', 'node', 's.js'],
      ['call', 'deploy', 'a=b'],
      ['node', 's.js'],
    ],
    [
      ['call', 'deploy', '--', 'npm', 'run', 'x', '--', '-v'],
      ['call', 'deploy'],
      ['npm', 'run', 'x', '--', '-v'],
    ],
    [
      ['call', '--', 'node', 's.js', '--', 'deploy', 'a=b'],
      ['call', 'deploy', 'a=b'],
      ['node', 's.js'],
    ],
    [['call', '--quiet', '--', 'node', '--', 'deploy'], ['call', '--quiet', 'deploy'], ['node']],
    [['call', '--output', 'json', '--', 'n', '--', 'd'], ['call', '--output', 'json', 'd'], ['n']],
    [['call', '--output=json', '--', 'n', '--', 'd'], ['call', '--output=json', 'd'], ['n']],
    [['call', '-a', 'x', '--', 'n', '--', 'd'], ['call', '-a', 'x', 'd'], ['n']],
    [
      ['call', '--', 'n', '--output', 'x', '--', 'd'],
      ['call', 'd'],
      ['n', '--output', 'x'],
    ],
    [['call', '--', 'n'], ['call'], ['n']],
    [['--no-color', 'call', '--', 'n', '--', 'd'], ['--no-color', 'call', 'd'], ['n']],
    [['call', 'deploy'], ['call', 'deploy'], undefined],
  ])('%j', (words, args, program) => {
    expect(split(...words)).toEqual({ args, program });
  });

  it.each([[['call', 'deploy', '--']], [['call', '--', '--', 'deploy']], [['call', 'deploy', '--', '']]])(
    '%j: nothing stands behind it',
    (words) => {
      expect(() => split(...words)).toThrow(/Nothing stands behind --/);
    },
  );

  it('is left alone where no server is called', () => {
    expect(split('keygen', '--', 'x').args).toEqual(['keygen', '--', 'x']);
    expect(split('--', 'call').args).toEqual(['--', 'call']);
  });
});
