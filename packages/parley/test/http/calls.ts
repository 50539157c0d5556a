/** A call of a client that makes no mistake, before it becomes a request. */
export interface Call {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether an instance of the pool may answer it; what needs the SDK's entry says so. */
  readonly pooled: boolean;
}

function call(method: string, params: Record<string, unknown> = {}): Call {
  return { method, params, pooled: true };
}

function tool(name: string, args: Record<string, unknown> = {}, more: Record<string, unknown> = {}): Call {
  return call('tools/call', { name, arguments: args, ...more });
}

function bySdk(made: Call): Call {
  return { ...made, pooled: false };
}

const ACCEPTED = { action: 'accept', content: { region: 'eu', age: 3 } };

/** Calls of `everything-server.ts`. */
export const CALLS: Readonly<Record<string, Call>> = {
  echo: tool('echo', { a: [1, 'ü', null, { b: true }] }),
  'no arguments': call('tools/call', { name: 'nothing' }),
  typed: tool('typed', { n: 3 }),
  'wrong type': tool('typed', { n: 'three' }),
  'structured output': tool('sum'),
  'wrong output': tool('bad-output'),
  large: tool('large'),
  'error of a tool': tool('is-error'),
  'tool that throws': tool('throws'),
  'tool that throws a protocol error': tool('throws-protocol'),
  'tool without a result': tool('no-result'),
  'unknown tool': tool('unknown'),
  'tool named as a member of objects': tool('constructor'),
  'name that is no string': call('tools/call', { name: 5 }),
  'no name': call('tools/call', { arguments: {} }),
  seen: tool('seen', {}, { inputResponses: { k: ACCEPTED, bad: 5 } }),
  'seen by a low-level handler': call('acme/seen', { any: 1 }),
  progress: tool('progress'),
  log: tool('log'),
  'progress, then an error': tool('progress-then-throw'),
  'progress, then a question': tool('progress-then-ask'),
  'notification of no request': tool('to-nobody'),
  'request to the client': tool('push'),
  'notification of another revision': tool('unknown-notification'),
  'question by hand': tool('ask', { who: 'Ann' }),
  'question by hand, state made up': tool('ask', { who: 'Ann' }, { requestState: 'made up' }),
  'state that is no string': tool('ask', { who: 'Ann' }, { requestState: null }),
  flow: tool('deploy', { env: 'prod' }),
  'flow, answered at once': tool('deploy', { env: 'prod' }, { inputResponses: { region: ACCEPTED } }),
  'flow, state made up': tool('deploy', { env: 'prod' }, { requestState: 'parley1.AAAA' }),
  'flow that samples': tool('think'),
  'task required': tool('later'),
  'scope, without a caller': tool('admin'),
  'scope told later': bySdk(tool('admin-later')),
  'scope that is none': bySdk(tool('admin-broken')),
  'scope of a prompt': call('prompts/get', { name: 'admin' }),
  'scope of a resource': call('resources/read', { uri: 'test://admin' }),
  'argument in a header': bySdk(tool('copied', { region: 'eu' })),
  'argument in a header, left out': bySdk(tool('copied')),
  prompt: call('prompts/get', { name: 'greet', arguments: { city: 'Rome' } }),
  'prompt that asks': call('prompts/get', { name: 'letter' }),
  'unknown prompt': call('prompts/get', { name: 'unknown' }),
  resource: call('resources/read', { uri: 'test://readme' }),
  'resource that asks': call('resources/read', { uri: 'test://secret' }),
  'resource of a template': call('resources/read', { uri: 'test://user/7' }),
  'unknown resource': call('resources/read', { uri: 'test://unknown' }),
  'resource without a scheme': call('resources/read', { uri: 'readme' }),
  tools: call('tools/list'),
  'tools from a cursor': call('tools/list', { cursor: 'none' }),
  prompts: call('prompts/list'),
  resources: call('resources/list'),
  templates: call('resources/templates/list'),
  'completion of a prompt': call('completion/complete', {
    ref: { type: 'ref/prompt', name: 'greet' },
    argument: { name: 'city', value: 'R' },
  }),
  'completion of a template': call('completion/complete', {
    ref: { type: 'ref/resource', uri: 'test://user/{id}' },
    argument: { name: 'id', value: '1' },
  }),
  'completion of nothing': call('completion/complete', {}),
  discover: call('server/discover'),
  ping: bySdk(call('ping')),
  'log level': bySdk(call('logging/setLevel', { level: 'error' })),
  initialize: bySdk(call('initialize', { protocolVersion: '2025-11-25', capabilities: {} })),
  subscribe: bySdk(call('resources/subscribe', { uri: 'test://readme' })),
  'unknown method': bySdk(call('acme/unknown')),
  'method named as a member of objects': bySdk(call('constructor')),
  'empty method': bySdk(call('')),
  'method of its own': call('acme/echo', { x: 1 }),
  'method of its own with a name': call('acme/name', { name: 'n' }),
  ...Object.fromEntries(
    // Those that have an HTTP status when the protocol itself answers them, and some that never have.
    [-32_700, -32_600, -32_601, -32_602, -32_603, -32_020, -32_021, -32_022, -32_000, 7, 0.5].map((code) => [
      `method that fails with ${code}`,
      call('acme/fail', { code }),
    ]),
  ),
  'task that is not there': call('tasks/get', { taskId: 'none' }),
  'cancelling a task that is not there': call('tasks/cancel', { taskId: 'none' }),
  'answers for a task that is not there': call('tasks/update', { taskId: 'none', inputResponses: {} }),
};
