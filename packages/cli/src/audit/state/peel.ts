import { inflateRawSync, inflateSync, gunzipSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { decode as unpack, encode as pack } from '@msgpack/msgpack';
import { isDeep, parse } from '../wire/response.js';
import { decode, encodeLike, encodingOf } from './encoding.js';

/** Something in a state that anybody can read. */
export interface Readable {
  /** The layers around it, from the outside in. */
  readonly layers: readonly string[];
  /** From 0 on, where the state consists of parts between dots; undefined for the state as a whole. */
  readonly part?: number;
  readonly value: unknown;
  /** The state with another value in its place, written in the same layers. */
  readonly withValue: (value: unknown) => string;
}

interface Peeled {
  readonly layers: readonly string[];
  readonly value: unknown;
  readonly wrap: (value: unknown) => Buffer;
}

const MAX_DEPTH = 5;
const MAX_INFLATED_BYTES = 1024 * 1024;
/** A header of a few bytes may claim room for billions. */
const PACKED_LIMITS = {
  maxStrLength: MAX_INFLATED_BYTES,
  maxBinLength: MAX_INFLATED_BYTES,
  maxArrayLength: 10_000,
  maxMapLength: 10_000,
  maxExtLength: MAX_INFLATED_BYTES,
};
/** Shorter texts come out of random bytes now and then. */
const MIN_TEXT = 12;

/** All that can be read in a state: of the whole, or else of each part between dots. */
export function peel(state: string): readonly Readable[] {
  const whole = peelText(state);
  if (whole !== undefined)
    return [{ layers: whole.layers, value: whole.value, withValue: (value) => whole.wrap(value).toString() }];
  const parts = state.split('.');
  if (parts.length === 1) return [];
  return parts.flatMap((text, part) => {
    const found = peelText(text);
    return found === undefined
      ? []
      : [
          {
            layers: found.layers,
            part,
            value: found.value,
            withValue: (value: unknown) => parts.with(part, found.wrap(value).toString()).join('.'),
          },
        ];
  });
}

function peelText(text: string): Peeled | undefined {
  const direct = peelJson(Buffer.from(text), true);
  if (direct !== undefined) return direct;
  const percent = percentDecoded(text);
  if (percent !== undefined)
    return wrapped(peelJson(Buffer.from(percent), true), 'percent-encoding', (inner) =>
      Buffer.from(encodeURIComponent(inner.toString())),
    );
  return peelEncoded(text, 0);
}

function peelEncoded(text: string, depth: number): Peeled | undefined {
  const encoding = encodingOf(text);
  if (encoding === undefined || depth > MAX_DEPTH) return undefined;
  return wrapped(peelBytes(decode(text, encoding), depth + 1), encoding, (inner) =>
    Buffer.from(encodeLike(inner, text, encoding)),
  );
}

function peelBytes(bytes: Buffer, depth: number): Peeled | undefined {
  return peelJson(bytes, false) ?? peelDeflated(bytes, depth) ?? peelPacked(bytes) ?? peelPlain(bytes, depth);
}

/** JSON, also where a tag or a MAC stands before or behind it. */
function peelJson(bytes: Buffer, alone: boolean): Peeled | undefined {
  const begins = [bytes.indexOf('{'), bytes.indexOf('[')].filter((at) => at !== -1).toSorted((a, b) => a - b);
  for (const begin of begins) {
    const end = bytes.lastIndexOf(bytes[begin] === 0x7b ? '}' : ']') + 1;
    if (end <= begin + 2 || (alone && (begin > 0 || end < bytes.length))) continue;
    const value = parsed(bytes.subarray(begin, end));
    if (value !== undefined)
      return {
        layers: ['JSON'],
        value,
        wrap: (other) =>
          Buffer.concat([bytes.subarray(0, begin), Buffer.from(JSON.stringify(other)), bytes.subarray(end)]),
      };
  }
  return undefined;
}

function peelDeflated(bytes: Buffer, depth: number): Peeled | undefined {
  const limit = { maxOutputLength: MAX_INFLATED_BYTES };
  const ways = [
    ['gzip', gunzipSync, gzipSync],
    ['zlib', inflateSync, deflateSync],
    ['deflate', inflateRawSync, deflateRawSync],
  ] as const;
  for (const [name, inflate, deflate] of ways) {
    const inner = attempt(() => inflate(bytes, limit));
    if (inner === undefined || inner.length === 0 || depth > MAX_DEPTH) continue;
    const found = wrapped(peelBytes(inner, depth + 1), name, (written) => deflate(written));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** MessagePack: only maps with readable keys, since random bytes are MessagePack now and then. */
function peelPacked(bytes: Buffer): Peeled | undefined {
  const value = attempt(() => unpack(bytes, PACKED_LIMITS));
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isDeep(value)) return undefined;
  const keys = Object.keys(value);
  if (keys.length === 0 || !keys.every((key) => /^[\w .:-]+$/.test(key))) return undefined;
  return { layers: ['MessagePack'], value, wrap: (other) => Buffer.from(pack(other)) };
}

/** A text that is encoded once more, or one that people can read. */
function peelPlain(bytes: Buffer, depth: number): Peeled | undefined {
  const text = bytes.toString();
  if (!/^[\x20-\x7e]+$/.test(text)) return undefined;
  const inner = peelEncoded(text, depth);
  if (inner !== undefined) return inner;
  return text.length < MIN_TEXT || /^[\da-f-]+$/i.test(text)
    ? undefined
    : { layers: ['text'], value: text, wrap: (other) => Buffer.from(String(other)) };
}

function wrapped(
  inner: Peeled | undefined,
  layer: string,
  write: (bytes: Buffer) => Buffer,
): Peeled | undefined {
  return (
    inner && {
      layers: [layer, ...inner.layers],
      value: inner.value,
      wrap: (value) => write(inner.wrap(value)),
    }
  );
}

function parsed(bytes: Buffer): unknown {
  const value = parse(bytes.toString());
  return typeof value === 'object' && value !== null ? value : undefined;
}

function percentDecoded(text: string): string | undefined {
  return /%[\dA-F]{2}/i.test(text) ? attempt(() => decodeURIComponent(text)) : undefined;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
