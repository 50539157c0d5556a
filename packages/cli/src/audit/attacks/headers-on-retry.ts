import type { Attack } from '../attack.js';
import type { Attempt } from '../judge/attempt.js';
import { judgeRefusal, notApplicable, tryWays, type Way } from '../judge/conclude.js';
import type { Judged } from '../judge/judged.js';

const HEADER_MISMATCH = -32_020;

/** METH-10, METH-11, METH-13, METH-14, METH-30. */
export const headersOnRetry: Attack = {
  id: 'headers-on-retry',
  title: 'Retries whose headers differ from the body',
  rule: 'Streamable HTTP, Server Validation: a missing or other header is HTTP 400 and -32020 (METH-13)',
  severity: 'medium',
  sends:
    'Honest retries without Mcp-Method, Mcp-Name or MCP-Protocol-Version, or with other values than the body has.',
  safe: 'Answers HTTP 400 with -32020.',
  fix: 'Compare the three headers with the body in every request, retries included, before anything else is done.',
  run(context) {
    if (context.wire.kind !== 'http')
      return Promise.resolve([notApplicable('There are no headers over stdio.')]);
    return tryWays(
      context,
      () => WAYS,
      (made) => judge(made),
      'Headers that are missing or differ from the body are refused with HTTP 400 and -32020.',
    );
  },
};

const without = (name: string): Way => ({
  name: `no ${name}`,
  changes: () => ({ headers: { [name]: null } }),
});
const other = (name: string, value: string): Way => ({
  name: `another ${name}`,
  changes: () => ({ headers: { [name]: value } }),
});
const WAYS: readonly Way[] = [
  without('Mcp-Method'),
  other('Mcp-Method', 'tools/list'),
  without('Mcp-Name'),
  other('Mcp-Name', 'parley-audit-other'),
  without('MCP-Protocol-Version'),
  other('MCP-Protocol-Version', '2025-06-18'),
];

function judge(made: Attempt): Judged {
  const { place, exchange } = made;
  if (place === 'failed') return judgeRefusal(made);
  if (place !== 'refused')
    return { verdict: 'broken', severity: 'medium', did: 'takes it, and looks at the body only' };
  const { error, status } = exchange.reply;
  return error?.code === HEADER_MISMATCH && status === 400
    ? { verdict: 'safe', did: 'refuses it' }
    : {
        verdict: 'weak',
        severity: 'note',
        did: `refuses it, but with ${error?.code ?? 'no code'} and HTTP status ${status ?? '?'} instead of -32020 and 400`,
      };
}
