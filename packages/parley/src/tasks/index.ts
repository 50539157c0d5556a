/** The tasks extension: flows that go on without their request. */
export { memoryTasks, type MemoryTasks, type MemoryTasksOptions } from './memory-tasks.js';
export { startWorker } from './start-worker.js';
export { StoredTasks, type StoredTasksOptions } from './stored-tasks.js';
export type {
  Fence,
  NewTask,
  Parked,
  StoredAnswer,
  TaskClaim,
  TaskEnd,
  TaskRow,
  TaskState,
  TaskStore,
  TaskWorker,
  WorkOptions,
} from './store.js';
