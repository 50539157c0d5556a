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
    ['https://[2001:db8::1]/', ['ip-address']],
    ['https://router/', ['private-address']],
    ['https://printer.local/', ['private-address']],
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
    ['', 'malformed'],
    ['\ud800', 'malformed'],
  ])('%j must not be opened (%s), and is shown harmlessly', (text, warning) => {
    const { url, warnings, openable } = describeUrl(text);
    expect(openable).toBe(false);
    expect(warnings).toContain(warning);
    expect(url).toMatch(/^[\u0021-\u007e]*$/);
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

  it.each(['a!', '99999999', 'zzzzzzzzzzzz'])('%s is none', (label) => {
    expect(decodePunycode(label)).toBeUndefined();
  });
});
