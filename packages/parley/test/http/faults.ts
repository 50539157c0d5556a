import type { Call } from './calls.js';
import type { RawRequest } from './raw-request.js';

/** Bodies above this are too large, in bytes. */
export const MAX_BODY = 64 * 1024;

const REVISION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';

/** A request in the making. */
export interface Draft {
  method: string;
  path: string;
  headers: [string, string][];
  json: unknown;
  /** What is sent in place of the JSON. */
  bytes: Buffer | undefined;
  chunked: boolean;
}

/** Does one thing to a request. */
export type Fault = (draft: Draft) => void;

/** A plain request of revision 2026-07-28. */
export function draft({ method, params }: Call): Draft {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const meta = {
    [`${PREFIX}protocolVersion`]: REVISION,
    [`${PREFIX}clientInfo`]: { name: 'client', version: '2' },
    [`${PREFIX}clientCapabilities`]: {
      elicitation: { form: {} },
      roots: {},
      extensions: { [`${PREFIX}tasks`]: {} },
    },
  };
  return {
    method: 'POST',
    path: '/mcp',
    headers: [
      ['Host', 'localhost'],
      ['Content-Type', 'application/json'],
      ['Accept', 'application/json, text/event-stream'],
      ['MCP-Protocol-Version', REVISION],
      ['Mcp-Method', method],
      ...(typeof name === 'string' ? [['Mcp-Name', name] satisfies [string, string]] : []),
    ],
    json: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
    bytes: undefined,
    chunked: false,
  };
}

/** The request as it is sent. */
export function finish({ method, path, headers, json, bytes, chunked }: Draft): RawRequest {
  const body = bytes ?? (json === undefined ? undefined : Buffer.from(JSON.stringify(json)));
  return { method, path, headers, body, chunked };
}

type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Changes a member of the message, if it is an object by then; several faults may meet. */
function inMessage(change: (message: Json) => void): Fault {
  return ({ json }) => void (isObject(json) && change(json));
}

function inParams(change: (params: Json) => void): Fault {
  return inMessage(({ params }) => void (isObject(params) && change(params)));
}

function inMeta(change: (meta: Json) => void): Fault {
  return inParams(({ _meta }) => void (isObject(_meta) && change(_meta)));
}

function header(name: string, change: (value: string) => string | undefined): Fault {
  return (draft) => {
    draft.headers = draft.headers.flatMap(([key, value]): [string, string][] => {
      if (key !== name) return [[key, value]];
      const changed = change(value);
      return changed === undefined ? [] : [[key, changed]];
    });
  };
}

function add(name: string, value: string): Fault {
  return ({ headers }) => void headers.push([name, value]);
}

function raw(text: (json: string) => string | Buffer): Fault {
  return (draft) => {
    draft.bytes = Buffer.from(text(JSON.stringify(draft.json ?? null)));
  };
}

function named(prefix: string, faults: Readonly<Record<string, Fault>>): Record<string, Fault> {
  return Object.fromEntries(Object.entries(faults).map(([name, fault]) => [`${prefix}: ${name}`, fault]));
}

const STANDARD = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Content-Type', 'Accept'];

function ofHeader(name: string): Record<string, Fault> {
  return named(name, {
    missing: header(name, () => undefined),
    empty: header(name, () => ''),
    wrong: header(name, () => 'wrong'),
    twice: (draft) => {
      const found = draft.headers.find(([key]) => key === name);
      if (found !== undefined) draft.headers.push([...found]);
    },
    'another one after it': add(name, 'other'),
    'another one before it': ({ headers }) => void headers.unshift([name, 'other']),
    'in odd case': (draft) => {
      draft.headers = draft.headers.map(([key, value]) => [key === name ? key.toUpperCase() : key, value]);
    },
    'value in upper case': header(name, (value) => value.toUpperCase()),
    'white space around': header(name, (value) => ` \t${value}\t `),
    'base64 sentinel': header(name, (value) => `=?base64?${Buffer.from(value).toString('base64')}?=`),
    'wrong sentinel': header(name, (value) => `=?base64?${value}!?=`),
    'sentinel without an end': header(name, (value) => `=?base64?${value}`),
    'sentinel in upper case': header(name, (value) => `=?BASE64?${Buffer.from(value).toString('base64')}?=`),
    'not ASCII': header(name, (value) => `${value}\u00e9`),
    'with a comma': header(name, (value) => `${value}, ${value}`),
    quoted: header(name, (value) => `"${value}"`),
  });
}

const VERSIONS = ['2025-11-25', '2025-06-18', '2024-11-05', '2026-07-29', '2027-01-01', '1.0', 'draft', ''];

const VALUES: Readonly<Record<string, unknown>> = {
  null: null,
  number: 1,
  float: 1.5,
  string: 'text',
  'empty string': '',
  true: true,
  array: [],
  object: {},
};

function ofMember(at: (change: (owner: Json) => void) => Fault, key: string): Record<string, Fault> {
  return named(key, {
    missing: at((owner) => void delete owner[key]),
    ...Object.fromEntries(
      Object.entries(VALUES).map(([name, value]) => [
        name,
        at((owner) => {
          owner[key] = structuredClone(value);
        }),
      ]),
    ),
  });
}

const HEADERS = named('header', {
  ...Object.assign({}, ...STANDARD.map(ofHeader)),
  ...Object.fromEntries(
    VERSIONS.map((version) => [`version ${version}`, header('MCP-Protocol-Version', () => version)]),
  ),
  ...Object.fromEntries(
    [
      'application/json; charset=utf-8',
      'application/json;charset=latin1',
      'application/json;',
      'application/json; charset=',
      'Application/JSON',
      'application/json, text/plain',
      'text/json',
      'application/problem+json',
      'text/plain; a=application/json',
      'application/x-www-form-urlencoded',
    ].map((type) => [`type ${type}`, header('Content-Type', () => type)]),
  ),
  'encoding of the content': add('Content-Encoding', 'gzip'),
  'argument in a header': add('Mcp-Param-Region', 'eu'),
  'wrong argument in a header': add('Mcp-Param-Region', 'us'),
  'session of old': add('Mcp-Session-Id', 'session'),
  'last event of old': add('Last-Event-ID', '7'),
  'foreign origin': add('Origin', 'http://evil.example'),
  'closing connection': add('Connection', 'close'),
  'caller alice': add('X-User', 'alice'),
  'caller admin': add('X-User', 'admin'),
  'header of its own, twice': (draft) => {
    add('X-Own', 'a')(draft);
    add('X-Own', 'b')(draft);
  },
});

const META = named('meta', {
  ...Object.assign(
    {},
    ...['protocolVersion', 'clientInfo', 'clientCapabilities', 'logLevel'].map((key) =>
      ofMember(inMeta, `${PREFIX}${key}`),
    ),
  ),
  ...ofMember(inParams, '_meta'),
  ...ofMember(inMeta, 'progressToken'),
  ...Object.fromEntries(
    VERSIONS.map((version) => [
      `version ${version}`,
      inMeta((meta) => void (meta[`${PREFIX}protocolVersion`] = version)),
    ]),
  ),
  'another version in both places': (draft) => {
    header('MCP-Protocol-Version', () => '2026-12-01')(draft);
    inMeta((meta) => void (meta[`${PREFIX}protocolVersion`] = '2026-12-01'))(draft);
  },
  'client that can nothing': inMeta((meta) => void (meta[`${PREFIX}clientCapabilities`] = {})),
  'client that can all': inMeta((meta) => {
    const can = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } };
    meta[`${PREFIX}clientCapabilities`] = can;
  }),
  'elicitation without a mode': inMeta(
    (meta) => void (meta[`${PREFIX}clientCapabilities`] = { elicitation: {} }),
  ),
  'log level debug': inMeta((meta) => void (meta[`${PREFIX}logLevel`] = 'debug')),
  'log level error': inMeta((meta) => void (meta[`${PREFIX}logLevel`] = 'error')),
  'log level emergency': inMeta((meta) => void (meta[`${PREFIX}logLevel`] = 'emergency')),
  'key of its own': inMeta((meta) => void (meta['acme/trace'] = { deep: [1] })),
  'trace context': inMeta((meta) => void (meta['traceparent'] = '00-1-1-01')),
  'more about the client': inMeta((meta) => {
    meta[`${PREFIX}clientInfo`] = {
      name: 'c',
      version: '3',
      title: 'C',
      websiteUrl: 'https://c.example',
      odd: 1,
    };
  }),
});

const IDS: Readonly<Record<string, string>> = {
  string: '"one"',
  'empty string': '""',
  zero: '0',
  'minus zero': '-0',
  negative: '-7',
  float: '1.5',
  'whole float': '2.0',
  null: 'null',
  'not safe': '9007199254740993',
  infinite: '1e999',
  'large string': JSON.stringify('i'.repeat(5000)),
  'string with escapes': '"\\u2028\\ud800\\u0000"',
  true: 'true',
  array: '[]',
  object: '{}',
};

const MESSAGE = named('message', {
  ...Object.fromEntries(
    Object.entries(IDS).map(([name, id]) => [
      `id ${name}`,
      raw((json) => json.replace('"id":1', `"id":${id}`)),
    ]),
  ),
  'id twice': raw((json) => json.replace('"id":1', '"id":1,"id":2')),
  ...ofMember(inMessage, 'id'),
  ...ofMember(inMessage, 'jsonrpc'),
  ...ofMember(inMessage, 'method'),
  ...ofMember(inMessage, 'params'),
  ...ofMember(inParams, 'name'),
  ...ofMember(inParams, 'uri'),
  ...ofMember(inParams, 'taskId'),
  ...ofMember(inParams, 'arguments'),
  ...ofMember(inParams, 'requestState'),
  ...ofMember(inParams, 'inputResponses'),
  'more members': inMessage((message) => void Object.assign(message, { extra: 1, result: undefined })),
  'a result too': inMessage((message) => void (message['result'] = {})),
  'an error too': inMessage((message) => void (message['error'] = { code: 1, message: 'm' })),
  'more in its params': inParams((params) => void (params['extra'] = { a: 1 })),
  'without an id': inMessage((message) => void delete message['id']),
  'in a batch': (draft) => void (draft.json = [draft.json]),
  'twice in a batch': (draft) => void (draft.json = [draft.json, draft.json]),
  'empty batch': (draft) => void (draft.json = []),
  'old batch': (draft) => void (draft.json = [{ jsonrpc: '2.0', id: 1, method: 'ping' }]),
  'a response': (draft) => void (draft.json = { jsonrpc: '2.0', id: 1, result: {} }),
  'an error': (draft) => void (draft.json = { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'm' } }),
  'a cancellation': (draft) =>
    void (draft.json = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
  'a notification of its own': (draft) =>
    void (draft.json = { jsonrpc: '2.0', method: 'acme/told', params: {} }),
  'own __proto__': raw((json) =>
    json.replace('"params":{', '"__proto__":{"id":9},"params":{"__proto__":{"name":"x"},'),
  ),
  'own __proto__ in arguments': raw((json) =>
    json.replace('"arguments":{', '"arguments":{"__proto__":{"n":1},'),
  ),
  'own __proto__ in _meta': raw((json) => json.replace('"_meta":{', '"_meta":{"__proto__":{"a":1},')),
  'own constructor': inParams((params) => void (params['constructor'] = { prototype: {} })),
  'key twice': raw((json) => json.replace('"params":{', '"params":{"name":"other","name":"echo",')),
  'deeply nested': inParams((params) => {
    params['arguments'] = JSON.parse(`{"a":${'['.repeat(500)}${']'.repeat(500)}}`) as unknown;
  }),
  'lone surrogate': inParams((params) => void (params['arguments'] = { s: '\ud800' })),
});

const BODY = named('body', {
  empty: raw(() => ''),
  missing: (draft) => void (draft.json = undefined),
  'white space': raw(() => ' \r\n'),
  'white space around': raw((json) => `\n\t${json}\r\n `),
  'cut off': raw((json) => json.slice(0, -1)),
  'something after it': raw((json) => `${json}x`),
  'two values': raw((json) => json + json),
  'with a mark of byte order': raw((json) => `\ufeff${json}`),
  'with two marks': raw((json) => `\ufeff\ufeff${json}`),
  'in UTF-16': raw((json) => Buffer.from(json, 'utf16le')),
  'not UTF-8': raw((json) =>
    Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from(',"x":"\xff"}', 'latin1')]),
  ),
  'over-long UTF-8': raw((json) => Buffer.concat([Buffer.from(json), Buffer.from([0xc0, 0x80])])),
  'no JSON': raw(() => 'method=tools/call'),
  'a string': raw(() => '"text"'),
  'a number': raw(() => '7'),
  null: raw(() => 'null'),
  'NaN inside': raw((json) => json.replace('"id":1', '"id":NaN')),
  'a comment inside': raw((json) => json.replace('{', '{/**/')),
  'up to the limit': raw((json) => json.padEnd(MAX_BODY)),
  'over the limit': raw((json) => json.padEnd(MAX_BODY + 1)),
  'limit in characters, not in bytes': raw(
    (json) => `${json}${' '.repeat(MAX_BODY - json.length - 2)}\u00a0`,
  ),
  'in chunks': (draft) => void (draft.chunked = true),
  'in chunks over the limit': (draft) => {
    raw((json) => json.padEnd(3 * MAX_BODY))(draft);
    draft.chunked = true;
  },
});

const OLD = named('2025', {
  'without _meta and header': (draft) => {
    for (const name of STANDARD.slice(0, 3)) header(name, () => undefined)(draft);
    inParams((params) => void delete params['_meta'])(draft);
  },
  'with its own header': (draft) => {
    header('MCP-Protocol-Version', () => '2025-11-25')(draft);
    inParams((params) => void delete params['_meta'])(draft);
  },
  'without params': (draft) => {
    for (const name of STANDARD.slice(0, 3)) header(name, () => undefined)(draft);
    inMessage((message) => void delete message['params'])(draft);
  },
});

const HTTP = named('HTTP', {
  ...Object.fromEntries(
    ['GET', 'HEAD', 'DELETE', 'OPTIONS'].map((method) => [
      method,
      (draft: Draft) => {
        draft.method = method;
        draft.json = undefined;
        draft.bytes = undefined;
        draft.chunked = false;
      },
    ]),
  ),
  ...Object.fromEntries(
    ['PUT', 'PATCH', 'DELETE'].map((method) => [
      `${method} with a body`,
      (draft: Draft) => void (draft.method = method),
    ]),
  ),
  'another path': (draft) => void (draft.path = '/other/%2e%2e?a=1&a=2'),
  'whole address as path': (draft) => void (draft.path = 'http://other.example/mcp'),
  'host with a port': header('Host', () => 'example.com:8080'),
  'host in IPv6': header('Host', () => '[::1]:80'),
  'host that is none': header('Host', () => 'a b'),
});

/** Everything that is done to a request, by name. Most of it is wrong, some is only odd. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  ...HEADERS,
  ...META,
  ...MESSAGE,
  ...BODY,
  ...OLD,
  ...HTTP,
};
