import type { CreateMessageAnswer, CreateMessageParams } from 'mcp-parley';

/** A request for the client's model: one message of the user's. */
export function userMessage(message: string, maxTokens: number): CreateMessageParams {
  return { messages: [{ role: 'user', content: { type: 'text', text: message } }], maxTokens };
}

/** What the model said, without anything that is not text. */
export function sampledText({ content }: CreateMessageAnswer): string {
  return [content]
    .flat()
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('');
}
