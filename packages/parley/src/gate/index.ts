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
export { DEFAULT_LIMITS, type Limits, type Logger } from './limits.js';
export type { ParleyOptions } from './options.js';
export { Parley } from './parley.js';
export { missingTasks, takesTasks, type TaskMode } from './escalation.js';
export { clientView, missingCapabilities } from './client-view.js';
export { taskSeatOf } from './task-seat.js';
export {
  type ServerTasks,
  type TaskHost,
  type TaskRun,
  type Tasks,
  type TaskSeed,
  type ToolRunner,
} from './tasks.js';
export { WIRE_CODES } from './wire-errors.js';
