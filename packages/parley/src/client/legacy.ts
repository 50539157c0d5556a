import type { Client, ClientCapabilities, InputResponse } from '@modelcontextprotocol/client';
import { ConfigurationError, DriveLimit, GoingNowhere, InvalidResponse } from '../errors.js';
import { checkAnswer } from './answer.js';
import { ask, unlessAborted, type Handlers } from './ask.js';
import type { Clock } from './clock.js';
import type { ServerIdentity } from './identity.js';
import type { FullPolicy } from './policy.js';
import { capabilitiesFor, digestOf, readQuestion, undeclared, type QuestionKind } from './question.js';
import type { DrivenRequest, DrivenResult } from './request.js';
import { firstFailure, send, type RequestSettings } from './send.js';

/*
 * Servers of 2025-11-25 and earlier ask with requests of their own, while the call that they serve is open. Such a
 * request does not say which call it belongs to. So a connection of that kind serves one driven call at a time, the
 * others wait their turn, and the driver's handlers are the client's for that long.
 */

const METHODS: Readonly<
  Record<QuestionKind, 'elicitation/create' | 'sampling/createMessage' | 'roots/list'>
> = {
  form: 'elicitation/create',
  url: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

interface LegacyOptions {
  readonly server: ServerIdentity;
  readonly handlers: Handlers;
  readonly policy: FullPolicy;
  readonly settings: RequestSettings;
  readonly capabilities: ClientCapabilities;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The last driven call of each connection; it never rejects. */
const turns = new WeakMap<Client, Promise<void>>();

/** Drives a call whose questions come as requests. */
export async function driveLegacy(
  client: Client,
  request: DrivenRequest,
  options: LegacyOptions,
): Promise<DrivenResult> {
  const before = turns.get(client) ?? Promise.resolve();
  let done: () => void = () => undefined;
  const mine = new Promise<void>((resolve) => void (done = resolve));
  turns.set(
    client,
    before.then(() => mine),
  );
  try {
    await unlessAborted(() => before, options.signal).catch((error: unknown) => {
      throw firstFailure(error, options.signal);
    });
    return await new LegacyCall(client, request, options).run();
  } finally {
    done();
  }
}

/** Longer than any time-out that is meant; the call keeps its own, which stands still while somebody is asked. */
const NO_TIMEOUT_MS = 2_147_483_647;

const DEFAULT_TIMEOUT_MS = 60_000;

class LegacyCall {
  readonly #client: Client;
  readonly #request: DrivenRequest;
  readonly #options: LegacyOptions;
  readonly #declared: ClientCapabilities;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  #asked = 0;
  #repeats = { digest: '', times: 0 };
  /** Questions are put to people one after another. */
  #last: Promise<unknown> = Promise.resolve();
  #watch: AbortController | undefined;

  constructor(client: Client, request: DrivenRequest, options: LegacyOptions) {
    this.#client = client;
    this.#request = request;
    this.#options = options;
    this.#declared = capabilitiesFor(options.policy.kinds, options.capabilities);
    this.#signal = AbortSignal.any([options.signal, this.#over.signal]);
  }

  async run(): Promise<DrivenResult> {
    const methods = this.#register();
    try {
      this.#startWatch();
      const incoming = await send(this.#client, {
        request: this.#request,
        capabilities: this.#declared,
        settings: { ...this.#options.settings, timeout: NO_TIMEOUT_MS },
        signal: this.#signal,
      });
      if (incoming.type !== 'result') throw new InvalidResponse('it asks in the way of a later revision');
      return incoming.result;
    } catch (error) {
      throw firstFailure(error, this.#signal);
    } finally {
      this.#stopWatch();
      this.#over.abort();
      for (const method of methods) this.#client.removeRequestHandler(method);
    }
  }

  /** Takes the client's requests for the time of the call. What the client did not declare at its start is left out. */
  #register(): string[] {
    const methods = [...new Set([...this.#options.policy.kinds].map((kind) => METHODS[kind]))];
    const taken: string[] = [];
    for (const method of methods) {
      try {
        this.#client.assertCanSetRequestHandler(method);
      } catch (error) {
        for (const done of taken) this.#client.removeRequestHandler(done);
        throw new ConfigurationError(
          `The client has its own handler for ${method}, which would answer in place of the driver's. ` +
            `Leave it out, or remove it: on a connection of 2025-11-25 there can be only one.`,
          { cause: error },
        );
      }
      try {
        this.#client.setRequestHandler(method, (asked) => this.#answer(asked) as Promise<never>);
        taken.push(method);
      } catch {
        // Not among the client's capabilities, so no server asks for it.
      }
    }
    return taken;
  }

  async #answer(asked: unknown): Promise<InputResponse> {
    const mine = this.#last.then(() => this.#answerNext(asked));
    this.#last = mine.catch(() => undefined);
    try {
      return await mine;
    } catch (error) {
      // The call fails with the reason; the server only learns that there is no answer.
      this.#over.abort(error);
      throw new Error('The question was not answered.', { cause: error });
    }
  }

  async #answerNext(asked: unknown): Promise<InputResponse> {
    const { policy, handlers, server } = this.#options;
    this.#stopWatch();
    this.#asked += 1;
    const question = readQuestion(String(this.#asked), asked);
    const capability = undeclared(question, this.#declared);
    if (capability !== undefined) throw new InvalidResponse(`it needs ${capability}, which was not declared`);
    if (this.#asked > policy.maxRounds * policy.maxQuestions) {
      throw new DriveLimit('maxRounds', policy.maxRounds);
    }
    const digest = await digestOf([{ ...question, key: '' }]);
    this.#repeats = { digest, times: this.#repeats.digest === digest ? this.#repeats.times + 1 : 1 };
    if (this.#repeats.times >= policy.repeats) throw new GoingNowhere([question.key], this.#repeats.times);
    const context = { server, request: this.#request, round: this.#asked, signal: this.#signal };
    const check = checkAnswer(question, await ask(handlers, question, context));
    if (check.type !== 'fits') throw new InvalidResponse('it asks for what cannot be answered');
    this.#startWatch();
    return check.response;
  }

  #startWatch(): void {
    const timeout = this.#options.settings.timeout ?? DEFAULT_TIMEOUT_MS;
    const watch = new AbortController();
    this.#watch = watch;
    void this.#options.clock.sleep(timeout, watch.signal).then(
      () => this.#over.abort(new DriveLimit('timeout', timeout)),
      () => undefined,
    );
  }

  #stopWatch(): void {
    this.#watch?.abort();
    this.#watch = undefined;
  }
}
