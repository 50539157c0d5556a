import type { AuditContext, HonestRun, Pause } from './attack.js';
import { answererOf, type WrittenAnswers } from './honest/answers.js';
import type { Envelope } from './honest/envelope.js';
import { exchange } from './honest/exchange.js';
import { drive } from './honest/honest-run.js';
import type { ListedTool, Listing } from './honest/listing.js';
import { sampleValue } from './honest/sample-value.js';
import type { Caller, Json, JsonObject, Wire } from './wire/message.js';
import { isObject } from './wire/response.js';

/** A tool without questions whose result holds the number of effects so far. */
export interface Probe {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What an audit is about, as the user names it. */
export interface Subject {
  readonly tool: string;
  /** Made from the tool's schema by default. */
  readonly arguments?: JsonObject;
  readonly answers?: WrittenAnswers;
  /** A prompt to be held against the tool, before others that the target lists. */
  readonly prompt?: string;
  readonly probe?: Probe;
  readonly callers: ReadonlySet<Caller>;
  readonly waitMs?: number;
}

/** What stays the same while an audit runs. */
export interface Ground {
  readonly envelope: Envelope;
  readonly subject: Subject;
  readonly listing: Listing;
  readonly tool: ListedTool & { readonly arguments: JsonObject };
}

/** Puts together what is known of the target and the tool. */
export function groundOf(envelope: Envelope, subject: Subject, listing: Listing): Ground {
  const listed = listing.tools.find(({ name }) => name === subject.tool) ?? { name: subject.tool };
  for (const { name, inputSchema } of listing.tools) envelope.learn(name, inputSchema);
  return { envelope, subject, listing, tool: { ...listed, arguments: argumentsOf(listed, subject) } };
}

/** Drives the flow to its end, honestly, as caller `main`. */
export function driveHonestly({ envelope, subject, tool }: Ground, wire: Wire): Promise<HonestRun> {
  const answer = answererOf(subject.answers);
  return drive({ wire, envelope, name: tool.name, arguments: tool.arguments, caller: 'main', answer });
}

/** What attacks work with. Nothing is kept from one call to the next: every flow is a new one. */
export function contextOf(ground: Ground, wire: Wire, honest: HonestRun): AuditContext {
  const { envelope, subject, listing, tool } = ground;
  const { name, arguments: args } = tool;
  const { prompt, callers, waitMs, probe, answers } = subject;
  const send: AuditContext['send'] = (request) => exchange(wire, request);
  const retryOf: AuditContext['retryOf'] = (pause, changes) => envelope.retry(pause, changes);
  return {
    wire,
    honest,
    tool,
    otherTools: listing.tools.filter((each) => each.name !== name),
    prompts: [...new Set(prompt === undefined ? listing.prompts : [prompt, ...listing.prompts])],
    callers,
    waitMs,
    send,
    retryOf,
    retry: (pause, changes) => send(retryOf(pause, changes)),
    async walkTo(round, caller = 'main'): Promise<Pause | undefined> {
      const isThere = stopAt(honest, round);
      if (isThere === undefined) return undefined;
      const answer = answererOf(answers);
      const { pauses } = await drive({ wire, envelope, name, arguments: args, caller, answer, isThere });
      const pause = pauses.at(-1);
      return pause !== undefined && isThere(pause) ? { ...pause, round } : undefined;
    },
    revealsSecretOf: (text) => wire.headerIn(text),
    async effects() {
      if (probe === undefined) return undefined;
      const { outcome } = await send(
        envelope.first('tools/call', { name: probe.tool, arguments: probe.arguments }),
      );
      return outcome.kind === 'done' ? firstNumber(outcome.result) : undefined;
    },
  };
}

/**
 * Tells when a new flow has come as far as a round of the honest one: to the question that was asked there. How often a
 * flow comes back with a state alone until then depends on the server's work, and is another number each time.
 */
function stopAt({ pauses }: HonestRun, round: number): ((pause: Pause) => boolean) | undefined {
  const target = pauses[round - 1];
  if (target === undefined) return undefined;
  const asks = ({ questions }: Pause): boolean => Object.keys(questions).length > 0;
  const before = pauses.slice(0, round - 1).filter(asks).length;
  const seen = new Set<number>();
  return (pause) => {
    if (asks(pause)) seen.add(pause.round);
    return asks(target) ? asks(pause) && seen.size > before : pause.round >= round && !asks(pause);
  };
}

/** What was given, or what the tool's schema requires. */
function argumentsOf({ inputSchema = {} }: ListedTool, { arguments: given }: Subject): JsonObject {
  if (given !== undefined) return given;
  const made = sampleValue({ ...inputSchema, type: 'object' }, inputSchema);
  return isObject(made) ? made : {};
}

/** The first number of a result: in what is structured, or in its texts. */
function firstNumber({ structuredContent, content }: JsonObject): number | undefined {
  const structured = numberIn(structuredContent);
  if (structured !== undefined) return structured;
  const texts = Array.isArray(content) ? content.filter(isObject).map(({ text }) => text) : [];
  const [digits] = /-?\d+(?:\.\d+)?/.exec(texts.filter((text) => typeof text === 'string').join('\n')) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function numberIn(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const inner of Object.values(value as JsonObject)) {
    const found = numberIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
