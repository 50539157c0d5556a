import { classifyInboundRequest } from '@modelcontextprotocol/server';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify, REVISION } from '../../src/http/classify.js';

const PREFIX = 'io.modelcontextprotocol/';

/** JSON texts: among them such that are read as values which cannot be written again, or not as they were. */
const texts = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    '0',
    '-0',
    '1e400',
    '-1e400',
    '9007199254740993',
    '""',
    '"null"',
    '[]',
    '{}',
  ),
  fc.constantFrom('{"__proto__":{}}', '"\\ud800"', `"${REVISION}"`, '"2025-11-25"', '{"toJSON":1}'),
  fc.constantFrom('{"name":"c","version":"1"}', '{"name":"c"}', '{"elicitation":{"form":1e400}}'),
);

function objectText(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join()}}`;
}

/** A member that is nearly always right. */
function member(key: string, right: string): fc.Arbitrary<[string, string][]> {
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant<[string, string][]>([[key, right]]) },
    { weight: 1, arbitrary: texts.map((text): [string, string][] => [[key, text]]) },
    { weight: 1, arbitrary: fc.constant<[string, string][]>([]) },
  );
}

const odd = fc.array(
  fc.tuple(fc.constantFrom('progressToken', `${PREFIX}related-task`, '__proto__', 'toJSON', 'x'), texts),
  { maxLength: 2 },
);

const metas = fc
  .tuple(
    member(`${PREFIX}protocolVersion`, `"${REVISION}"`),
    member(`${PREFIX}clientInfo`, '{"name":"c","version":"1"}'),
    member(`${PREFIX}clientCapabilities`, '{}'),
    odd,
  )
  .map((parts) => objectText(parts.flat()));

const methods = fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping', '', 'constructor');

const bodies = fc
  .tuple(
    methods,
    metas,
    member('jsonrpc', '"2.0"'),
    member('id', '1'),
    fc.array(fc.tuple(fc.constantFrom('result', 'error', 'x', '__proto__', 'id'), texts), { maxLength: 1 }),
    fc.nat(9),
  )
  .map(([method, meta, jsonrpc, id, more, chance]) => {
    const params = objectText([['_meta', meta]]);
    const members = [...jsonrpc, ...id, ['method', JSON.stringify(method)], ['params', params]] as const;
    return { method, body: objectText([...members, ...(chance === 0 ? more : [])] as [string, string][]) };
  });

describe('classify', () => {
  it('says of 20,000 bodies what the SDK says, though it remembers what the SDK said of others', () => {
    let served = 0;
    fc.assert(
      fc.property(bodies, methods, fc.boolean(), (made, other, isOther) => {
        const body: unknown = JSON.parse(made.body);
        const mcpMethodHeader = isOther ? other : made.method;
        const route = classifyInboundRequest({
          httpMethod: 'POST',
          protocolVersionHeader: REVISION,
          mcpMethodHeader,
          body,
        });
        const isRequest = route.kind === 'modern' && route.messageKind === 'request';
        const expected = isRequest && route.classification.revision === REVISION ? route : undefined;
        if (expected !== undefined) served += 1;
        expect(classify(mcpMethodHeader, body)).toEqual(
          expected && { message: expected.message, classification: expected.classification },
        );
      }),
      { numRuns: 20_000 },
    );
    expect(served).toBeGreaterThan(4_000);
  });
});
