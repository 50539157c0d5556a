import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ClientView, KeyedQuestion } from '../flow/index.js';

/** Reads declared capabilities. A bare `elicitation: {}` means forms (client/elicitation, "Capabilities"; FORM-02). */
export function clientView(capabilities: ClientCapabilities | undefined): ClientView {
  const { elicitation, sampling, roots, extensions } = capabilities ?? {};
  const bare = elicitation !== undefined && elicitation.form === undefined && elicitation.url === undefined;
  return {
    elicitation: { form: bare || elicitation?.form !== undefined, url: elicitation?.url !== undefined },
    sampling: { messages: sampling !== undefined, tools: sampling?.tools !== undefined },
    roots: roots !== undefined,
    extensions: new Set(Object.keys(extensions ?? {})),
  };
}

/** What the client of a request can do, as declared. */
export function clientOf(server: Server, { mcpReq: { envelope } }: ServerContext): ClientView {
  // A request of 2026-07-28 says for itself what its client can do; an older connection said it once, at its start.
  if (envelope === undefined) return clientView(server.getClientCapabilities());
  const declared = (envelope as Record<string, unknown>)[CLIENT_CAPABILITIES_META_KEY];
  return clientView(declared as ClientCapabilities | undefined);
}

/**
 * The error for questions that this client cannot be asked, naming all that is missing in one object (META-06,
 * META-07). The SDK checks too, one question at a time, and only after a state was sealed and told of.
 */
export function missingCapabilities(
  questions: readonly KeyedQuestion[],
  client: ClientView,
): MissingRequiredClientCapabilityError | undefined {
  const elicitation: { form?: object; url?: object } = {};
  const missing: Record<string, object> = {};
  for (const { question } of questions) {
    switch (question.kind) {
      case 'form':
      case 'url':
        if (client.elicitation[question.kind]) break;
        elicitation[question.kind] = {};
        missing['elicitation'] = elicitation;
        break;
      case 'sampling': {
        const wantsTools =
          question.params['tools'] !== undefined || question.params['toolChoice'] !== undefined;
        if (!client.sampling.messages || (wantsTools && !client.sampling.tools)) {
          missing['sampling'] = wantsTools ? { tools: {} } : (missing['sampling'] ?? {});
        }
        break;
      }
      case 'roots':
        if (!client.roots) missing['roots'] = {};
        break;
    }
  }
  if (Object.keys(missing).length === 0) return undefined;
  return new MissingRequiredClientCapabilityError(
    { requiredCapabilities: missing },
    `This request needs client capabilities that it does not declare: ${Object.keys(missing).join(', ')}`,
  );
}
