import { expect, it } from 'vitest';
import { faultsOfUrl } from '../../../src/audit/judge/url-faults.js';

const worst = (url: string | undefined, given: readonly string[] = []) =>
  faultsOfUrl(url, given).map(({ verdict, severity }) => `${verdict} ${severity}`);

it.each([
  ['no URL at all', undefined],
  ['a relative one', '/login'],
  ['plain http', 'http://login.example.com/'],
  ['a script', 'javascript:alert(1)'],
  ['a file', 'file:///etc/passwd'],
  ['credentials', 'https://ann:secret@login.example.com/'],
])('%s is broken (URL-01, URL-06, URL-08, URL-15)', (_name, url) => {
  expect(worst(url)).toContain('broken high');
});

it.each([
  ['a private address', 'https://192.168.1.4/login', 'weak medium'],
  ['the metadata service', 'https://169.254.169.254/', 'weak medium'],
  ['letters that look like others', 'https://lоgin.example.com/', 'weak low'],
  ['an e-mail address', 'https://login.example.com/?u=ann%40example.com', 'weak medium'],
  ['a token', 'https://login.example.com/?access_token=1', 'weak medium'],
])('%s is weak (URL-06, URL-07)', (_name, url, found) => {
  expect(worst(url)).toEqual([found]);
});

it('an answer of an earlier round has no place in it (URL-06)', () => {
  const url = 'https://pay.example.com/?name=Ada+Lovelace';
  expect(worst(url, ['Ada Lovelace'])).toEqual(['broken high']);
  expect(worst(url, ['Ada'])).toEqual([]);
});

it.each([
  'https://login.example.com/start?id=5f0c',
  'http://localhost:3000/x',
  'http://127.0.0.1/x',
  'http://[::1]/x',
])('%s is safe', (url) => {
  expect(worst(url)).toEqual([]);
});

it('is not held up by an address of a megabyte', () => {
  const long = 'a'.repeat(1_000_000);
  expect(worst(`https://login.example.com/${long}?b=${'-eyJ'.repeat(200_000)}`)).toEqual([]);
});
