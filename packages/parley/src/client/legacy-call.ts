import {
  ProtocolError,
  UrlElicitationRequiredError,
  type Client,
  type ClientCapabilities,
  type InputResponse,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import {
  DriveLimit,
  GoingNowhere,
  InvalidResponse,
  ParleyError,
  RetryUnknown,
  Unanswered,
} from '../errors.js';
import { checkAnswer } from './answer.js';
import { ask, unlessAborted, type Handlers } from './ask.js';
import { whileAsking } from './asked-within.js';
import { consult } from './before-retry.js';
import type { Clock } from './clock.js';
import type { ServerIdentity } from './identity.js';
import { isObject } from './json.js';
import { wasNotTaken, type LegacyConnection, type Passage } from './legacy-connection.js';
import type { FullPolicy } from './policy.js';
import {
  capabilitiesFor,
  digestOf,
  keyless,
  readQuestion,
  requireDeclared,
  type Question,
} from './question.js';
import type { DrivenRequest, DrivenResult } from './request.js';
import { firstFailure, send, stopped, type RequestSettings } from './send.js';
import { ServerTime } from './server-time.js';
import { METHODS, takeQuestions } from './take-questions.js';

/** What a call needs to know. */
export interface LegacyOptions {
  readonly server: ServerIdentity;
  readonly handlers: Handlers;
  readonly policy: FullPolicy;
  readonly settings: RequestSettings;
  readonly capabilities: ClientCapabilities;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Longer than any time-out that is meant; the call keeps its own, which stands still while somebody is asked. */
const NO_TIMEOUT_MS = 2_147_483_647;

/** A call on a connection of 2025-11-25, while it is its turn. Each question is a round. */
export class LegacyCall {
  readonly #client: Client;
  readonly #request: DrivenRequest;
  readonly #options: LegacyOptions;
  readonly #connection: LegacyConnection;
  readonly #declared: ClientCapabilities;
  readonly #time: ServerTime;
  readonly #passage: Passage;
  /** The call is over for its caller, for this reason. */
  readonly #over = new AbortController();
  /** The request that is under way is cancelled. */
  readonly #wire = new AbortController();
  #response: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #isAsking = false;
  /** Somebody answered: from then on the server may have done what it was asked to. */
  #isRetried = false;
  #repeats = { digest: '', times: 0 };
  /** Questions are put to people one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: Client, request: DrivenRequest, options: LegacyOptions, connection: LegacyConnection) {
    const { clock, settings, policy, capabilities } = options;
    this.#client = client;
    this.#request = request;
    this.#options = options;
    this.#connection = connection;
    this.#declared = capabilitiesFor(policy.kinds, capabilities);
    this.#time = new ServerTime({ clock, settings, onOver: (limit) => this.#giveUp(this.#lost(limit)) });
    this.#passage = connection.follow((error) => this.#giveUp(this.#lost(error)));
  }

  async run(): Promise<DrivenResult> {
    const { signal } = this.#options;
    const onAbort = (): void => {
      const reason = stopped(signal);
      // While somebody is asked, nothing is under way.
      this.#giveUp(this.#isAsking ? reason : this.#lost(reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    let release = (): void => undefined;
    try {
      release = takeQuestions(this.#client, this.#options.policy.kinds, (asked, takenBack) =>
        this.#answer(asked, takenBack),
      );
      return await unlessAborted(() => this.#untilResult(), this.#over.signal);
    } catch (error) {
      throw this.#over.signal.aborted ? this.#over.signal.reason : this.#failure(error);
    } finally {
      signal.removeEventListener('abort', onAbort);
      release();
      this.#over.abort();
    }
  }

  /**
   * Resolves when nothing is under way any more. A call that failed over a question is not cancelled: the server was
   * told that there is no answer, and ends it, which leaves the connection fit for use.
   */
  async settled(): Promise<void> {
    await this.#response.catch(() => undefined);
    this.#time.end();
    this.#passage.end();
  }

  async #untilResult(): Promise<DrivenResult> {
    for (;;) {
      try {
        return await this.#send();
      } catch (error) {
        if (!(error instanceof UrlElicitationRequiredError)) throw error;
        await this.#openFirst(error);
      }
    }
  }

  async #send(): Promise<DrivenResult> {
    const { onprogress } = this.#options.settings;
    const settings: RequestSettings & Pick<RequestOptions, 'onresumptiontoken'> = {
      timeout: NO_TIMEOUT_MS,
      onresumptiontoken: this.#passage.mark,
      ...(onprogress !== undefined && {
        onprogress: (progress) => {
          this.#time.progress();
          onprogress(progress);
        },
      }),
    };
    const response = send(this.#client, {
      request: this.#request,
      capabilities: this.#declared,
      tasks: false,
      settings,
      signal: this.#wire.signal,
    });
    this.#response = response;
    this.#time.start();
    const incoming = await response;
    this.#time.stop();
    if (incoming.type !== 'result') throw new InvalidResponse('it asks in the way of a later revision');
    return incoming.result;
  }

  /** Answers a question of the server's, which may take it back. */
  async #answer(asked: unknown, takenBack: AbortSignal): Promise<InputResponse> {
    try {
      return await this.#inTurn(asked, takenBack);
    } catch (error) {
      // The call fails with the reason; the server only learns that there is no answer.
      if (!takenBack.aborted) this.#over.abort(error);
      throw new Error('The question was not answered.', { cause: error });
    }
  }

  #inTurn(asked: unknown, takenBack: AbortSignal): Promise<InputResponse> {
    const signal = AbortSignal.any([this.#over.signal, takenBack]);
    const mine = this.#last.then(() => this.#answerNext(asked, signal));
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  async #answerNext(asked: unknown, signal: AbortSignal): Promise<InputResponse> {
    if (signal.aborted) throw stopped(signal);
    this.#time.stop();
    this.#isAsking = true;
    try {
      this.#asked += 1;
      const question = readQuestion(String(this.#asked), asked);
      requireDeclared(question, this.#declared);
      await this.#requireWithin(question);
      const response = await whileAsking(this.#connection, () => this.#ask(question, signal));
      this.#isRetried = true;
      return response;
    } finally {
      this.#isAsking = false;
      this.#time.start();
    }
  }

  async #requireWithin(question: Question): Promise<void> {
    const { repeats, maxRounds } = this.#options.policy;
    const digest = await digestOf([keyless(question)]);
    const times = this.#repeats.digest === digest ? this.#repeats.times + 1 : 1;
    this.#repeats = { digest, times };
    // It has no key: its running number says nothing of it.
    if (times >= repeats) throw new GoingNowhere([METHODS[question.kind]], times);
    if (this.#asked >= maxRounds) throw new DriveLimit('maxRounds', maxRounds);
  }

  async #ask(question: Question, signal: AbortSignal): Promise<InputResponse> {
    const { policy, handlers, server } = this.#options;
    const at = { server, request: this.#request, round: this.#asked };
    const answer = await ask(handlers, question, { ...at, signal });
    const check = checkAnswer(question, answer);
    if (check.type !== 'fits') throw new Unanswered(question.key);
    await consult(policy, { ...at, questions: [question], answers: [[question.key, answer]] }, signal);
    return check.response;
  }

  /**
   * The server wants pages to be opened before it takes the call up (2025-11-25, "URL Elicitation Required Error").
   * They are questions like others, but for the answer: the call itself, again.
   */
  async #openFirst(required: UrlElicitationRequiredError): Promise<void> {
    const { policy } = this.#options;
    const pages: unknown = required.elicitations;
    if (!policy.kinds.has('url') || !Array.isArray(pages) || pages.length === 0) throw required;
    if (pages.length > policy.maxQuestions) throw new DriveLimit('maxQuestions', policy.maxQuestions);
    for (const page of pages as readonly unknown[]) {
      const params = isObject(page) ? { ...page, mode: 'url' } : page;
      const response = await this.#inTurn({ method: METHODS.url, params }, this.#over.signal);
      if (!('action' in response) || response.action !== 'accept') {
        throw new Unanswered(String(this.#asked), undefined, { cause: required });
      }
    }
  }

  /** Ends the call here, and tells the server. */
  #giveUp(reason: unknown): void {
    this.#over.abort(reason);
    // It stands in the notification (TRAN-16), and is all that the server learns.
    this.#wire.abort('The call was cancelled.');
  }

  #failure(error: unknown): unknown {
    const failure = firstFailure(error, this.#over.signal);
    // What the server answered, and what is wrong on this side, is known.
    if (failure instanceof ParleyError || failure instanceof ProtocolError) return failure;
    return this.#lost(failure);
  }

  /** What it is to the caller that no response will come. */
  #lost(error: unknown): unknown {
    if (!this.#isRetried || wasNotTaken(error)) return error;
    return new RetryUnknown(this.#asked + 1, undefined, { cause: error });
  }
}
