import { describe, expect, it } from 'vitest';
import { findState, stateOfFlow } from '../../src/inspect/find-state.js';

const request = { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'eu' } } };
const identity = { method: 'tools/call', target: 'deploy', arguments: { env: 'eu' } };
const result = { resultType: 'input_required', inputRequests: {}, requestState: 'S' };

describe('findState', () => {
  it.each([
    ['a token alone', 'parley1.abc', { state: 'parley1.abc' }],
    ['a token with white space around it', '\n  parley1.abc\r\n', { state: 'parley1.abc' }],
    ['white space inside, which is for the reader to see', 'parley1.a\nbc', { state: 'parley1.a\nbc' }],
    ['a JSON text', '"parley1.abc"', { state: 'parley1.abc' }],
    ['a result', JSON.stringify(result), { state: 'S' }],
    ['a response', JSON.stringify({ jsonrpc: '2.0', id: 1, result }, null, 2), { state: 'S' }],
    ['an empty state', '{"requestState":""}', { state: '' }],
    ['a state that is no text', '{"requestState":null}', { state: null }],
    ['nothing', '', { state: '' }],
  ])('takes it from %s', (_, text, found) => {
    expect(findState(text)).toEqual(found);
  });

  it('takes it from an event stream', () => {
    const response = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
    const stream = `: ping\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\nevent: message\nid: 2\ndata: ${response}\n\n`;
    expect(findState(stream)).toEqual({ state: 'S' });
    expect(findState(stream.replaceAll('\n', '\r\n'))).toEqual({ state: 'S' });
  });

  it('takes the request that it came with', () => {
    const sent = { ...request, jsonrpc: '2.0', id: 1, params: { ...request.params, requestState: 'S' } };
    expect(findState(JSON.stringify(sent))).toEqual({ state: 'S', request: identity });
    const read = { method: 'resources/read', params: { uri: 'file:///a', requestState: 'S' } };
    expect(findState(JSON.stringify(read))?.request).toMatchObject({ target: 'file:///a' });
  });

  it.each([
    ['JSON without a state', '{"result":{"content":[]}}'],
    ['broken JSON', '{"requestState":"S"'],
    ['a list', '[{"requestState":"S"}]'],
    ['a state that only a prototype would have', '{"result":{"__proto__":{"requestState":"S"}}}'],
    ['an event stream without a state', 'event: message\ndata: {"result":{}}\n\n'],
  ])('finds none in %s', (_, text) => {
    expect(findState(text)).toBeUndefined();
  });
});

describe('stateOfFlow', () => {
  it('takes state and request from a saved flow, and from nothing else', () => {
    const flow = { format: 'parley-flow', version: 1, request, requestState: 'S' };
    expect(stateOfFlow(JSON.stringify(flow))).toEqual({ state: 'S', request: identity });
    expect(stateOfFlow(JSON.stringify({ ...flow, format: 'other' }))).toBeUndefined();
    expect(stateOfFlow(JSON.stringify({ ...flow, requestState: undefined }))).toBeUndefined();
    expect(stateOfFlow('parley1.abc')).toBeUndefined();
  });
});
