import type { Json } from './json.js';

/**
 * The parameters of `sampling/createMessage` (client/sampling), as far as this library looks at them. What
 * it does not know goes out as it is.
 *
 * @deprecated Sampling is deprecated as of 2026-07-28 and stays in the specification for twelve months.
 */
export interface CreateMessageParams {
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: SamplingContent | readonly SamplingContent[];
  }[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: { readonly [member: string]: Json };
  readonly metadata?: { readonly [member: string]: Json };
  readonly tools?: readonly { readonly [member: string]: Json }[];
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
}

/** One block of a message: text, image, audio, a tool's use or its result. */
export type SamplingContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'tool_use' | 'tool_result'; readonly [member: string]: Json };

/** What the client's model answered. */
export interface CreateMessageAnswer {
  readonly role: 'user' | 'assistant';
  readonly content: SamplingContent | readonly SamplingContent[];
  readonly model: string;
  readonly stopReason?: string;
}

/** One of the client's roots. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}
