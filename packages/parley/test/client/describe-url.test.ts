import { domainToUnicode } from 'node:url';
import { describe, expect, it } from 'vitest';
import { describeUrl } from '../../src/client/index.js';
import { decodePunycode } from '../../src/client/punycode.js';

describe('describeUrl', () => {
  it('gives an ordinary URL whole, with its host apart', () => {
    expect(describeUrl('https://example.com/sign-in?x=1&y=$(id)#z')).toEqual({
      url: 'https://example.com/sign-in?x=1&y=$(id)#z',
      host: 'example.com',
      warnings: [],
      openable: true,
    });
  });

  it.each([
    ['https://аррӏе.com/', ['punycode']],
    ['https://xn--80ak6aa92e.com/', ['punycode']],
    ['https://аpple.com/', ['punycode', 'mixed-scripts']],
    ['https://例え.jp/', ['punycode']],
    ['https://google.com@evil.example/', ['user-info']],
    ['https://user:secret@evil.example/', ['user-info']],
    ['https://example.com:8443/', ['port']],
    ['https://93.184.216.34/', ['ip-address']],
    ['https://10.0.0.1/', ['ip-address', 'private-address']],
    ['https://172.16.0.1/', ['ip-address', 'private-address']],
    ['https://172.32.0.1/', ['ip-address']],
    ['https://192.168.1.1/', ['ip-address', 'private-address']],
    ['https://169.254.169.254/', ['ip-address', 'private-address']],
    ['https://100.64.0.1/', ['ip-address', 'private-address']],
    ['https://0x7f.1/', ['ip-address', 'private-address']],
    ['https://2130706433/', ['ip-address', 'private-address']],
    ['https://[::1]/', ['ip-address', 'private-address']],
    ['https://[::ffff:10.0.0.1]/', ['ip-address', 'private-address']],
    ['https://[fe80::1]/', ['ip-address', 'private-address']],
    ['https://[fd00::1]/', ['ip-address', 'private-address']],
    ['https://[2606:4700::1111]/', ['ip-address']],
    ['https://[2001:db8::1]/', ['ip-address', 'private-address']],
    ['https://[::]/', ['ip-address', 'private-address']],
    ['https://[::7f00:1]/', ['ip-address', 'private-address']],
    ['https://[::ffff:0:7f00:1]/', ['ip-address', 'private-address']],
    ['https://[64:ff9b::7f00:1]/', ['ip-address', 'private-address']],
    ['https://[64:ff9b:1::7f00:1]/', ['ip-address', 'private-address']],
    ['https://[2002:7f00:1::]/', ['ip-address', 'private-address']],
    ['https://[2001::1]/', ['ip-address', 'private-address']],
    ['https://[fec0::1]/', ['ip-address', 'private-address']],
    ['https://[ff02::1]/', ['ip-address', 'private-address']],
    ['https://[4000::1]/', ['ip-address', 'private-address']],
    ['https://0.0.0.0/', ['ip-address', 'private-address']],
    ['https://224.0.0.1/', ['ip-address', 'private-address']],
    ['https://240.0.0.1/', ['ip-address', 'private-address']],
    ['https://255.255.255.255/', ['ip-address', 'private-address']],
    ['https://192.0.0.1/', ['ip-address', 'private-address']],
    ['https://192.0.2.1/', ['ip-address', 'private-address']],
    ['https://198.18.0.1/', ['ip-address', 'private-address']],
    ['https://198.19.255.255/', ['ip-address', 'private-address']],
    ['https://198.20.0.1/', ['ip-address']],
    ['https://[::ffff:8.8.8.8]/', ['ip-address']],
    ['https://router/', ['private-address']],
    ['https://printer.local/', ['private-address']],
    ['https://PRINTER.LOCAL./', ['private-address']],
    ['https://localhost.localdomain/', ['private-address']],
    ['https://metadata.google.internal/', ['private-address']],
    ['https://wiki.corp/', ['private-address']],
    ['https://box.home.arpa/', ['private-address']],
    ['https://notlocal/', ['private-address']],
    ['https://internal.example.com/', []],
    ['https://mylocal.example/', []],
    ['https://localhost./', ['private-address']],
    ['http://localhost:3000/cb', ['not-https', 'private-address', 'port']],
    ['http://127.0.0.2/', ['not-https', 'ip-address', 'private-address']],
    ['http://[::1]/', ['not-https', 'ip-address', 'private-address']],
    ['http://app.localhost/', ['not-https', 'private-address']],
  ])('%s may be opened, with the warnings %j', (url, warnings) => {
    const { url: shown, ...rest } = describeUrl(url);
    expect(rest).toMatchObject({ warnings, openable: true });
    expect(shown).toMatch(/^[\u0021-\u007e]+$/);
  });

  it.each([
    ['http://example.com/', 'not-https'],
    ['http://10.0.0.1/', 'not-https'],
    ['http://localhost.example.com/', 'not-https'],
    ['javascript:alert(1)', 'scheme'],
    ['JaVaScRiPt:alert(1)', 'scheme'],
    ['data:text/html,<script>', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['blob:https://example.com/x', 'scheme'],
    ['vscode://x/y', 'scheme'],
    ['mailto:a@b.example', 'scheme'],
    ['java\nscript:alert(1)', 'malformed'],
    [' https://example.com/', 'malformed'],
    ['https://exa\tmple.com/', 'malformed'],
    ['https://example.com\\@evil.example/', 'malformed'],
    ['https://example.com/\u001b[2J', 'malformed'],
    ['/relative', 'malformed'],
    ['example.com', 'malformed'],
    ['https://', 'malformed'],
    ['https://xn--a/', 'malformed'],
    ['http://localhost.localdomain/', 'not-https'],
    ['http://0.0.0.0/', 'not-https'],
    ['http://[::7f00:1]/', 'not-https'],
    ['', 'malformed'],
    ['\ud800', 'malformed'],
  ])('%j must not be opened (%s), and is shown harmlessly', (text, warning) => {
    const { url, warnings, openable } = describeUrl(text);
    expect(openable).toBe(false);
    expect(warnings).toContain(warning);
    expect(url).toMatch(/^[\u0021-\u007e]*$/);
  });
});

describe('describeUrl, of hosts longer than any', () => {
  it.each([
    ['a label', `https://${'a'.repeat(64)}.example/`],
    ['a name', `https://${'a.'.repeat(130)}example/`],
    ['encoded letters', `https://${'\u00e9'.repeat(300_000)}.example/`],
    ['encoded already', `https://xn--${'a'.repeat(300_000)}.example/`],
  ])('%s: malformed', (_, url) => {
    expect(describeUrl(url)).toMatchObject({ host: '', warnings: ['malformed'], openable: false });
  });

  it('the longest of each may be opened', () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    expect(describeUrl(`https://${name}/`)).toMatchObject({ host: name, openable: true });
    expect(describeUrl(`https://${name}./`)).toMatchObject({ openable: true });
    expect(describeUrl(`https://${name}e/`)).toMatchObject({ openable: false });
  });
});

describe('Punycode', () => {
  it.each([
    'bücher',
    'аррӏе',
    '例え',
    'ليهمابتكلموشعربي',
    '他们为什么不说中文',
    'porquénopuedensimplementehablarenespañol',
    '3年b組金八先生',
  ])('of %s is decoded as the platform does', (word) => {
    const { hostname } = new URL(`https://${word}.example`);
    const label = hostname.split('.')[0] ?? '';
    expect(label).toMatch(/^xn--/);
    expect(decodePunycode(label.slice(4))).toBe(domainToUnicode(label));
  });

  it.each(['a!', '99999999', 'zzzzzzzzzzzz', 'a'.repeat(60), 'a'.repeat(300_000)])('%s is none', (label) => {
    expect(decodePunycode(label)).toBeUndefined();
  });
});
