import { afterEach, describe, expect, it } from 'vitest';
import { answersOf, ask } from './asking.js';
import { page } from './questions.js';
import { endAll, KEYS } from './screen.js';

afterEach(endAll);

const { enter, down } = KEYS;

describe('a page to be opened', () => {
  const LONG = `https://accounts.example.com/authorize?client_id=abc&state=${'x1y2'.repeat(60)}&end`;

  it('is shown whole, with its host apart, and opened only after a yes, each time (URL-10, URL-11)', async () => {
    const screen = ask([page(LONG), page('https://x.example/')], { columns: 60 });
    const text = await screen.see('It leads to');
    const lines = text.split('\n');
    const theirs = lines.filter((line) => line.startsWith('┃ ')).map((line) => line.slice(2));
    expect(theirs.join('')).toBe(`Please sign in.${LONG}accounts.example.com`);
    expect(lines[lines.indexOf('  It leads to') + 1]).toBe('┃ accounts.example.com');
    expect(screen.raw).toContain('\u001b[1maccounts.example.com\u001b[22m');
    screen.type(enter);
    expect(await screen.see('Opened in the browser.')).toContain('› I am done there, go on');
    screen.type(down);
    await screen.see('› Open it again');
    screen.type(enter);
    await screen.see('› I am done there, go on');
    screen.type(enter);
    await screen.see('answer: {"action":"accept"}');
    await screen.see('It leads to');
    screen.type(down, down, enter);
    await screen.ended;
    expect(answersOf(screen)).toEqual([{ action: 'accept' }, { action: 'decline' }]);
    expect(screen.raw).toContain(`opened: ${JSON.stringify([LONG, LONG])}`);
  });

  it('comes with warnings in words, and Enter alone then declines (URL-13)', async () => {
    const screen = ask([
      page('https://bank.example@xn--80ak6aa92e.com:8443/', ['user-info', 'punycode', 'port']),
      page('https://192.168.1.1/', ['ip-address', 'private-address']),
    ]);
    const text = await screen.see('It leads to');
    expect(text).toContain('┃ xn--80ak6aa92e.com:8443\n');
    expect(text).toContain('▲ What stands before the @ is not where it leads');
    expect(text).toContain('▲ The name is written in letters other than a to z.');
    expect(text).toContain('▲ It uses another port than the usual one.');
    screen.type(enter);
    await screen.see('It leads to a number instead of a name');
    screen.type(enter);
    await screen.ended;
    expect(answersOf(screen)).toEqual([{ action: 'decline' }, { action: 'decline' }]);
    expect(screen.all).toContain('opened: []');
  });

  it('is printed where there is no browser, and where the person opens it', async () => {
    const screen = ask([page(LONG), page(LONG)], { env: { NO_BROWSER: '1' } });
    await screen.see('It leads to');
    screen.type(enter);
    await screen.see('The address stands above.');
    expect(screen.raw).toContain('No browser could be started.');
    expect(screen.raw).toContain(`\n${LONG}\r\n`);
    screen.type(enter);
    await screen.see(/"accept"[^]*It leads to/);
    screen.type(down, enter);
    await screen.see(/Open this address yourself:[^]*The address stands above\./);
    screen.type(down, down, enter);
    await screen.ended;
    expect(answersOf(screen)).toEqual([{ action: 'accept' }, { action: 'cancel' }]);
  });
});
