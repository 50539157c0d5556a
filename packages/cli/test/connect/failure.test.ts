import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { reasonOf } from '../../src/connect/failure.js';

const HTTP = {
  target: { type: 'http', url: 'https://a.example/mcp' },
  timeout: 1000,
  secrets: [],
  isConnected: false,
} as const;
const STDIO = { ...HTTP, target: { type: 'stdio', command: ['node', 'x.js'] } } as const;

/** An error as `fetch` rejects with, and the official client wraps it. */
function failed(code: string): Error {
  const cause = Object.assign(new Error(`system says ${code}`), { code });
  const fetched = new TypeError('fetch failed', { cause });
  return new SdkError(
    SdkErrorCode.EraNegotiationFailed,
    'probe failed',
    { cause: fetched },
    { cause: fetched },
  );
}

describe('the reason of a failure', () => {
  it.each([
    ['ECONNREFUSED', /nothing listens there/],
    ['ENOTFOUND', /no host of this name/],
    ['ETIMEDOUT', /cannot be reached/],
    ['UND_ERR_CONNECT_TIMEOUT', /cannot be reached/],
    ['ECONNRESET', /closed the connection/],
    ['CERT_HAS_EXPIRED', /its certificate is not trusted \(CERT_HAS_EXPIRED\)\. .*NODE_EXTRA_CA_CERTS/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /not trusted/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /not trusted/],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /not trusted/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /not trusted/],
    ['EPROTO', /does not speak TLS/],
    ['HPE_INVALID_CONSTANT', /does not speak HTTP/],
  ])('%s', (code, message) => {
    expect(reasonOf(failed(code), HTTP)).toMatch(message);
  });

  it('of a program', () => {
    const missing = Object.assign(new Error('spawn node ENOENT'), { code: 'ENOENT' });
    expect(reasonOf(missing, STDIO)).toBe('there is no program node. Is it installed, and the path right?');
    const denied = Object.assign(new Error('spawn node EACCES'), { code: 'EACCES' });
    expect(reasonOf(denied, STDIO)).toBe('node may not be run (EACCES).');
    expect(reasonOf(new SdkError(SdkErrorCode.ConnectionClosed, 'x'), STDIO)).toBe('the program ended.');
  });

  it('that is not known is what the last cause says, on one line, harmless and short', () => {
    expect(reasonOf(new Error('a', { cause: new Error('b\n\u001b[2J') }), HTTP)).toBe(
      String.raw`b \u001b[2J`,
    );
    expect(reasonOf(new Error('x'.repeat(10_000)), HTTP)).toHaveLength(502);
    expect(reasonOf('no error at all', HTTP)).toBe('no error at all');
  });

  it('holds no secret, also where the text is cut in the middle of one', () => {
    const secret = 'key-0123456789abcdef';
    for (let before = 470; before <= 500; before += 1) {
      const reason = reasonOf(new Error(`${'x'.repeat(before)}${secret}`), { ...HTTP, secrets: [secret] });
      expect(reason).not.toContain('key-0');
    }
  });

  it('is found where causes go in circles', () => {
    const error = new Error('a');
    error.cause = error;
    expect(reasonOf(error, HTTP)).toBe('a');
  });
});
