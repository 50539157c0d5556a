import { afterEach, describe, expect, it } from 'vitest';
import { wrap } from '../../src/terminal/drawing/text-layout.js';
import { answersOf, ask, EVERYTHING, NAME } from './asking.js';
import { form, page } from './questions.js';
import { endAll, KEYS } from './screen.js';

afterEach(endAll);

const { enter, escape, up, down, ctrlC, ctrlD, ctrlU } = KEYS;

// eslint-disable-next-line no-control-regex -- the sequences of colours are looked for
const COLOURS = /\u001b\[\d*(?:;\d+)*m/;

describe('a form in a terminal', () => {
  it('asks for every type of field, lets the person go back, and sends what was reviewed (FORM-24, FORM-25)', async () => {
    const screen = ask([EVERYTHING]);
    expect(await screen.see('Field 1 of 10')).toMatchInlineSnapshot(`
      "◆ releases asks
      ┃ Where should build 1.4.2 go? It was tested on staging.

        Field 1 of 10 · required · choose one
      ┃ Region
      ┃ › Europe
      ┃   United States

        Enter next · Ctrl-D decline · Ctrl-C cancel · ↑↓ choose"
    `);
    expect(screen.cursor).toEqual({ row: 5, column: 2 });
    expect(screen.raw).toMatch(COLOURS);
    screen.type(down, enter);
    expect(await screen.see('Field 2 of 10')).toContain('1 to 11 of 40');
    screen.type('united');
    expect(await screen.see('(1 of 40)')).toContain('┃ › United Kingdom');
    screen.type(enter);
    expect(await screen.see('Field 3 of 10')).toContain('Empty: the field is left out.');
    screen.type(enter);
    await screen.see('Field 4 of 10');
    screen.type('ann@', enter);
    await screen.see('✗ It must be an e-mail address.');
    screen.type('example.com');
    await screen.gone('✗');
    screen.type(enter);
    await screen.see('Field 5 of 10');
    screen.type(up);
    await screen.see('› 3');
    screen.type(enter);
    await screen.see('Field 6 of 10');
    screen.type('2', enter);
    await screen.see('✗ It must be at most 1.');
    screen.type(ctrlU, '0.5', enter);
    await screen.see('Field 7 of 10');
    screen.type('2026-3-9');
    await screen.see('Monday, 9 March 2026');
    screen.type(enter);
    await screen.see('Field 8 of 10');
    screen.type('2026-03-09 14:30');
    await screen.see('Sent as 2026-03-09T14:30:00+00:00');
    screen.type(enter);
    expect(await screen.see('Field 9 of 10')).toContain('› No');
    screen.type(escape);
    expect(await screen.see('Field 8 of 10')).toContain('› 2026-03-09 14:30');
    screen.type(enter);
    await screen.see('Field 9 of 10');
    screen.type('y');
    await screen.see('› Yes');
    screen.type(enter);
    await screen.see('Field 10 of 10');
    screen.type(enter);
    await screen.see('✗ It needs at least 1 choices.');
    screen.type(' ', enter);
    expect(await screen.see('Your answers')).toMatchInlineSnapshot(`
      "◆ releases asks
      ┃ Where should build 1.4.2 go? It was tested on staging.

        Your answers. Enter on one of them changes it.
      ┃   Region         United States
      ┃   Country        United Kingdom
      ┃   Note           left out
      ┃   Contact        ann@example.com
      ┃   Instances      3
      ┃   Load           0.5
      ┃   Day            2026-03-09
      ┃   At             2026-03-09T14:30:00+00:00
      ┃   Tell the team  yes
      ┃   Checks         smoke
        › Send to releases
          Decline: say no to the server
          Cancel the call

        Enter choose · Esc back · Ctrl-D decline · Ctrl-C cancel
        ↑↓ move"
    `);
    screen.type(...Array.from({ length: 8 }, () => up), enter);
    await screen.see('Field 3 of 10');
    screen.type('hi', enter);
    await screen.see(/Note +hi/);
    screen.type(enter);
    expect(await screen.ended).toEqual({ code: 0, signal: 0 });
    expect(answersOf(screen)).toEqual([
      {
        action: 'accept',
        content: {
          region: 'us',
          country: 'United Kingdom',
          note: 'hi',
          contact: 'ann@example.com',
          instances: 3,
          load: 0.5,
          day: '2026-03-09',
          at: '2026-03-09T14:30:00+00:00',
          notify: true,
          checks: ['smoke'],
        },
      },
    ]);
    expect(screen.all).toContain('raw: false; the end');
    expect(screen.all).not.toContain('Enter');
  });

  it('declines with Ctrl-D, cancels with Ctrl-C, and a second Ctrl-C ends it all', async () => {
    const screen = ask([NAME, NAME, NAME, NAME, NAME, NAME]);
    await screen.see('Field 1');
    screen.type('Ann', ctrlD);
    await screen.see('answer: {"action":"decline"}');
    await screen.see('Field 1');
    screen.type(ctrlC);
    await screen.see('answer: {"action":"cancel"}');
    // An answer in between: the next Ctrl-C is a first one again.
    await screen.see('Field 1');
    screen.type('Ann', enter, enter);
    await screen.see('answer: {"action":"accept"');
    await screen.see('Field 1');
    screen.type(ctrlC);
    await screen.see(/"cancel"[^]*"accept"[^]*"cancel"/);
    await screen.see('Field 1');
    screen.type(ctrlC);
    expect(await screen.ended).toEqual({ code: 1, signal: 0 });
    expect(screen.text).toContain('interrupted raw: false');
    expect(screen.text).not.toContain('Field 1');
    expect(answersOf(screen)).toHaveLength(4);
  });

  it('leaves the screen when the call is over', async () => {
    const screen = ask([NAME]);
    await screen.see('Field 1');
    screen.type('An');
    await screen.see('› An');
    screen.kill('SIGUSR2');
    await screen.ended;
    expect(screen.all).toBe('failed: Error: The call is over. raw: false');
    expect(screen.cursor).toEqual({ row: 1, column: 0 });
  });

  it('has the cursor and the line breaks of the terminal in order, even when it is killed', async () => {
    const screen = ask([NAME]);
    await screen.see('Field 1');
    screen.kill('SIGTERM');
    await screen.ended;
    expect(screen.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(screen.raw.lastIndexOf('\u001b[?25l'));
    expect(screen.raw.lastIndexOf('\u001b[?7h')).toBeGreaterThan(screen.raw.lastIndexOf('\u001b[?7l'));
  });

  it('takes no key for an answer that was pressed before it was there, and no pasted line break for Enter', async () => {
    const screen = ask([NAME, page('https://x.example/')]);
    screen.type('y', enter, enter, enter);
    await screen.see('Field 1');
    screen.type('x');
    await screen.see('› x');
    screen.type('\u001b[200~one\r\ntwo\n\u001b[201~');
    expect(await screen.see('› xone two')).toContain('Field 1');
    // What is typed behind an answer is not for the next question either.
    screen.type(enter, `${enter}${enter}${enter}`);
    await screen.see('It leads to');
    screen.type(ctrlD);
    await screen.ended;
    expect(answersOf(screen)).toEqual([
      { action: 'accept', content: { name: 'xone two' } },
      { action: 'decline' },
    ]);
  });

  it('shows what a server wrote as text, and never as sequences or links (FORM-29)', async () => {
    const evil = 'Safe\u001b]0;evil\u0007\u001b[2J\u001b[31m\u009b5A\u202e\u200b\r gone';
    const field = {
      type: 'string',
      title: evil,
      description: evil,
      oneOf: [{ const: evil, title: evil }],
    } as const;
    const screen = ask([form(evil, { [evil]: field })], { columns: 100 });
    const shown = 'Safe\\u001b]0;evil\\u0007\\u001b[2J\\u001b[31m\\u009b5A\\u202e\\u200b\\u000d gone';
    const text = await screen.see('Field 1');
    expect(text.split('\n').filter((line) => line.startsWith('┃') && line.endsWith(shown))).toHaveLength(2);
    screen.type(enter);
    await screen.see('Your answers');
    screen.type(enter);
    await screen.ended;
    // eslint-disable-next-line no-control-regex -- they are what must not be there
    expect(screen.raw).not.toMatch(/\u001b\]|\u001b\[2J|\u001b\[31m|\u009b|\u202e|\u200b/);
    expect(answersOf(screen)).toEqual([{ action: 'accept', content: { [evil]: evil } }]);
  });

  it('fits windows of 60 columns, and of next to nothing', async () => {
    const screen = ask([EVERYTHING, NAME], { columns: 60 });
    await screen.see('Field 1');
    screen.type(enter);
    expect(await screen.see('Field 2 of 10')).toMatchInlineSnapshot(`
      "◆ releases asks
      ┃ Where should build 1.4.2 go? It was tested on staging.

        Field 2 of 10 · required · choose one
      ┃ Country
        Search:   (40 of 40)
      ┃ › Argentina
      ┃   Australia
      ┃   Austria
      ┃   Belgium
      ┃   Brazil
      ┃   Bulgaria
      ┃   Canada
      ┃   Chile
      ┃   Croatia
      ┃   Cyprus
      ┃   Czechia
        1 to 11 of 40

        Enter next · Esc back · Ctrl-D decline · Ctrl-C cancel
        ↑↓ choose · Type to search"
    `);
    screen.resize(20, 8);
    expect(await screen.see(/^ +lines 1 to 1/m)).toMatchInlineSnapshot(`
      "◆ releases asks
      ┃ Where should build
        lines 1 to 1 of 3…
      ┃ Country
        Search:
      ┃ › Argentina
      ┃   Australia
      ┃   Austria"
    `);
    screen.type(ctrlC);
    await screen.see('Field 1 of 1');
    screen.type('Ann');
    expect(await screen.see('› Ann')).toMatchInlineSnapshot(`
      "◆ releases asks
      ┃ Who are you?
        Field 1 of 1 ·
        required
      ┃ Name
        › Ann
        Enter next
        Ctrl-D decline"
    `);
    screen.type(enter);
    await screen.see('› Send');
    screen.type(enter);
    await screen.ended;
    expect(answersOf(screen)).toEqual([{ action: 'cancel' }, { action: 'accept', content: { name: 'Ann' } }]);
  });

  it('is drawn anew when the window has another size, and leaves nothing behind', async () => {
    const message =
      'Words enough to be broken at every width that the window of this test will have. '.repeat(2);
    const screen = ask([NAME, form(message, { name: { type: 'string' } })]);
    await screen.see('Field 1');
    screen.type(ctrlD);
    await screen.see('answer: {"action":"decline"}');
    await screen.see('┃ Words');
    for (const [columns, rows] of [
      [60, 24],
      [40, 20],
      [100, 30],
      [20, 10],
      [80, 24],
    ] as const) {
      screen.resize(columns, rows);
      const text = await screen.see(`┃ ${wrap(message, columns - 2)[0]}\n`);
      expect(text.match(/releases asks/g)).toHaveLength(1);
      expect(text.match(/┃ name/g)).toHaveLength(1);
      if (columns === 60) expect(text).toContain('answer: {"action":"decline"}\n◆ releases asks');
    }
    screen.type(ctrlC);
    await screen.ended;
  });

  it('uses no colours where they are not wanted', async () => {
    const screen = ask([NAME], { env: { NO_COLOR: '1' } });
    await screen.see('Field 1');
    expect(screen.raw).not.toMatch(COLOURS);
  });
});
