import type { Client, InputResponse } from '@modelcontextprotocol/client';
import { ConfigurationError } from '../errors.js';
import type { QuestionKind } from './question.js';

/** The requests with which servers ask. */
export const METHODS: Readonly<
  Record<QuestionKind, 'elicitation/create' | 'sampling/createMessage' | 'roots/list'>
> = {
  form: 'elicitation/create',
  url: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};

/** Answers a request of the server's. The signal aborts when the server takes it back. */
export type Answering = (asked: unknown, takenBack: AbortSignal) => Promise<InputResponse>;

/**
 * Takes the requests of a server for questions of these kinds, until what it returns is called. What the client did
 * not declare at its start is left out: no server asks for it.
 *
 * @throws ConfigurationError when the client has handlers of its own for them.
 */
export function takeQuestions(
  client: Client,
  kinds: ReadonlySet<QuestionKind>,
  answer: Answering,
): () => void {
  const methods = [...new Set([...kinds].map((kind) => METHODS[kind]))];
  for (const method of methods) {
    try {
      client.assertCanSetRequestHandler(method);
    } catch (error) {
      throw new ConfigurationError(
        `The client has its own handler for ${method}, which would answer in place of the driver's. ` +
          `Leave it out, or remove it: on a connection of 2025-11-25 there can be only one.`,
        { cause: error },
      );
    }
  }
  const taken = methods.filter((method) => {
    try {
      client.setRequestHandler(method, (asked, { mcpReq }) => answer(asked, mcpReq.signal) as Promise<never>);
      return true;
    } catch {
      return false;
    }
  });
  return () => {
    for (const method of taken) client.removeRequestHandler(method);
  };
}
