import type { AuditContext, HonestRun, Pause } from './attack.js';
import { answererOf, type WrittenAnswers } from './honest/answers.js';
import type { Envelope } from './honest/envelope.js';
import { drive, exchange, MOST_ROUNDS } from './honest/honest-run.js';
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
      if (round > MOST_ROUNDS) return undefined;
      const answer = answererOf(answers);
      const walked = await drive({ wire, envelope, name, arguments: args, caller, answer, upTo: round });
      return walked.pauses.find((pause) => pause.round === round);
    },
    async effects() {
      if (probe === undefined) return undefined;
      const { outcome } = await send(
        envelope.first('tools/call', { name: probe.tool, arguments: probe.arguments }),
      );
      return outcome.kind === 'done' ? firstNumber(outcome.result) : undefined;
    },
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
