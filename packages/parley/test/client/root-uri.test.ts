import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkAnswer } from '../../src/client/index.js';

const check = (uri: string): string =>
  checkAnswer({ key: 'r', kind: 'roots' }, { action: 'accept', roots: [{ uri, name: 'x' }] }).type;

describe('a root', () => {
  it.each([
    'file:///',
    'file:///srv/project',
    'file:///srv/project/',
    'file:///C:/Users/ann',
    'file:///srv/a%20b/%C3%A9',
    'file:///srv/..hidden/...',
    'file:///srv/.git',
    'FILE:///srv',
    pathToFileURL('/srv/ä b/%2e%2e').href,
  ])('%s is sent (ROOT-04)', (uri) => {
    expect(check(uri)).toBe('fits');
  });

  it.each([
    'https://a.example',
    '/srv',
    'file:',
    'file://',
    'file:/srv',
    'file://evil.example/share',
    'file://localhost/srv',
    'file:////evil.example/share/../x',
    'file:///srv/../etc',
    'file:///srv/..',
    'file:///srv/./x',
    'file:///srv/%2e%2e/etc',
    'file:///srv/.%2E/etc',
    'file:///srv/..%2fetc',
    'file:///srv/x%5c..%5cetc',
    'file:///srv/..\\etc',
    'file:///C:\\srv',
    'file:///a b\u0000',
    'file:///a%00b',
    'file:///a%0ab',
    'file:///a%',
    'file:///a%ff',
    'file:///srv/x?/../..',
    'file:///srv#x',
  ])('%j is not (ROOT-05)', (uri) => {
    expect(check(uri)).toBe('faulty');
  });
});
