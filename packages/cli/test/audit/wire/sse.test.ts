import { expect, it } from 'vitest';
import { EventStream } from '../../../src/audit/wire/sse.js';

it.each([
  ['LF', 'data: a\n\ndata:b\n\n', ['a', 'b']],
  ['CR LF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['a', 'b']],
  ['CR', 'data: a\r\rdata: b\r\r:', ['a', 'b']],
  ['lines of one event', 'event: message\ndata: a\ndata: b\nid: 1\n\n', ['a\nb']],
  ['comments, and events without data', ': hello\n\nevent: ping\n\ndata\n\n', ['']],
  ['a mark of byte order', '\uFEFFdata: ü\n\n', ['ü']],
  ['an event that does not end', 'data: a\n', []],
])('takes events apart, at once and byte by byte: %s', (_, text, events) => {
  const bytes = Buffer.from(text);
  expect(new EventStream().push(bytes)).toEqual(events);
  const stream = new EventStream();
  expect([...bytes].flatMap((byte) => stream.push(Buffer.from([byte])))).toEqual(events);
});
