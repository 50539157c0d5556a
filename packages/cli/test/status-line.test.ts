import { describe, expect, it } from 'vitest';
import { StatusLine } from '../src/status-line.js';

function recorded() {
  const log: string[] = [];
  const progress = {
    round: (n: number) => void log.push(`round ${n}`),
    server: (text: string | undefined) => void log.push(`server ${text}`),
    pause: () => void log.push('pause'),
    resume: () => void log.push('resume'),
    done: () => void log.push('done'),
  };
  return { log, status: new StatusLine((text) => void log.push(text), progress) };
}

describe('the line of status', () => {
  it('makes room for what is written', () => {
    const { log, status } = recorded();
    status.write('a');
    expect(log).toEqual(['pause', 'a', 'resume']);
  });

  it('keeps what is written while a question has the screen', () => {
    const { log, status } = recorded();
    status.hold();
    status.write('a');
    status.write('b');
    expect(log).toEqual(['pause']);
    status.release();
    expect(log).toEqual(['pause', 'resume', 'pause', 'ab', 'resume']);
  });

  it('does not come back when it is done, and loses nothing', () => {
    const { log, status } = recorded();
    status.hold();
    status.write('a');
    status.done();
    status.release();
    status.write('b');
    expect(log).not.toContain('resume');
    expect(log.filter((each) => each === 'a' || each === 'b')).toEqual(['a', 'b']);
  });

  it('writes also where nobody looks', () => {
    const log: string[] = [];
    const status = new StatusLine((text) => void log.push(text), undefined);
    status.round(2);
    status.write('a');
    status.done();
    expect(log).toEqual(['a']);
  });
});
