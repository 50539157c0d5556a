import type { ClientCapabilities } from '@modelcontextprotocol/server';
import type { ClientView } from '../flow/index.js';

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
