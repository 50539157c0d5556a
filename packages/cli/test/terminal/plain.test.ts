import { afterEach, describe, expect, it } from 'vitest';
import { answersOf, ask, EVERYTHING, NAME } from './asking.js';
import { form, page } from './questions.js';
import { endAll, KEYS } from './screen.js';

afterEach(endAll);

const { enter, escape, ctrlC, ctrlD, ctrlU } = KEYS;

describe('a terminal that cannot go back', () => {
  it('is written line by line, without sequences', async () => {
    const { region, contact, instances, notify, checks } = EVERYTHING.schema.properties;
    const properties = { region, contact, instances, notify, checks } as typeof EVERYTHING.schema.properties;
    const screen = ask(
      [form('Where to?', properties, ['region', 'contact', 'checks']), page('https://x.example/')],
      {
        env: { TERM: 'dumb' },
      },
    );
    await screen.see('Number or name >');
    screen.type('asia', enter);
    await screen.see('x Nothing matches.');
    screen.type(ctrlU, 'united', enter);
    await screen.see('Field 2 of 5');
    screen.type('ann', enter);
    await screen.see('x It must be an e-mail address.');
    screen.type('@example.com', enter);
    await screen.see('> 2');
    screen.type(KEYS.backspace, '5', escape);
    await screen.see(/Field 3[^]*> 5[^]*Field 2/);
    screen.type(enter);
    await screen.see(/Field 2[^]*Field 3[^]*Field 2[^]*Field 3/);
    screen.type(KEYS.backspace, enter);
    await screen.see('Field 4 of 5');
    screen.type('y', enter);
    await screen.see('Field 5 of 5');
    screen.type('1, load', enter);
    expect(await screen.see(/to change > *$/)).toContain(
      [
        '| 1. Region         United States',
        '| 2. Contact        ann@example.com',
        '| 3. Instances      left out',
        '| 4. Tell the team  yes',
        '| 5. Checks         smoke, load',
      ].join('\n'),
    );
    screen.type('send', enter);
    await screen.see(/Number > *$/);
    screen.type('1', enter);
    await screen.see('1. I am done there, go on');
    screen.type('1', enter);
    await screen.ended;
    expect(screen.raw).not.toContain('\u001b');
    expect(screen.all).toContain('opened: ["https://x.example/"]');
    expect(answersOf(screen)).toEqual([
      {
        action: 'accept',
        content: { region: 'us', contact: 'ann@example.com', notify: true, checks: ['smoke', 'load'] },
      },
      { action: 'accept' },
    ]);
  });

  it('can be left with the same keys', async () => {
    const screen = ask([NAME, NAME, page('https://x.example/')], { env: { ACCESSIBLE: '1' } });
    await screen.see(/Answer › *$/);
    screen.type('An', ctrlD);
    await screen.see(/Declined\.[^]*Answer › *$/);
    screen.type(ctrlC);
    await screen.see('It leads to');
    screen.type(ctrlC);
    expect(await screen.ended).toEqual({ code: 1, signal: 0 });
    expect(answersOf(screen)).toEqual([{ action: 'decline' }, { action: 'cancel' }]);
    expect(screen.all).toContain('interrupted raw: false');
  });
});
