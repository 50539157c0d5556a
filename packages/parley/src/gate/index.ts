export type { EventSource, GatedMethod, Listener, ParleyEvents, RoundEvent } from './events.js';
export {
  Flows,
  type FlowPromptConfig,
  type FlowPromptHandler,
  type FlowResourceConfig,
  type FlowResourceHandler,
  type FlowResourceTemplateHandler,
  type FlowToolConfig,
  type FlowToolHandler,
  type McpFlow,
} from './flows.js';
export { DEFAULT_LIMITS, type Limits, type Logger, type ParleyOptions } from './options.js';
export { Parley } from './parley.js';
export { WIRE_CODES } from './wire-errors.js';
