import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { specPage } from '../../../src/audit/report/spec-page.js';
import { ATTACKS } from '../../../src/audit/attacks/index.js';

const DOCS = new URL('../../../../../docs/', import.meta.url);
const pageOf = (id: string) => readFileSync(new URL(`audit/${id}.md`, DOCS), 'utf8');

/** The text as a reader sees it: without what makes code of it, or keeps Markdown from making something else. */
const plain = (text: string) => text.replaceAll('&lt;', '<').replaceAll(/[`\\]/g, '');

describe('the pages of the attacks', () => {
  it('are one for each attack, and no other', () => {
    const pages = readdirSync(new URL('audit/', DOCS)).map((file) => file.replace(/\.md$/, ''));
    expect(pages.toSorted()).toEqual(ATTACKS.map(({ id }) => id).toSorted());
  });

  it.each(ATTACKS.map((attack) => [attack.id, attack] as const))(
    '%s: says the same as the attack: severity, rule, what is sent, what is safe, what mends it',
    (id, { title, rule, severity, sends, safe, fix }) => {
      const text = plain(pageOf(id));
      expect(text).toMatch(new RegExp(`^# ${id}\n`));
      expect(text).toContain(`Severity when broken: ${severity}.`);
      for (const said of [title, rule, sends, safe, fix]) expect(text).toContain(plain(said));
    },
  );

  it.each(ATTACKS.map(({ id, rule }) => [id, rule]))(
    '%s: its rule begins with a page of the specification',
    (_, rule) => {
      expect(specPage(rule)).toMatch(/2026-07-28\/./);
    },
  );

  it('are all in the table of the overview, with their severities', () => {
    const text = plain(readFileSync(new URL('audit.md', DOCS), 'utf8')).replaceAll(/ +/g, ' ');
    const missing = ATTACKS.filter(
      ({ id, severity, title }) =>
        !text.includes(`| [${id}](audit/${id}.md) | ${severity} | ${plain(title)} |`),
    );
    expect(missing.map(({ id }) => id)).toEqual([]);
  });
});
