import { describe, it } from 'vitest';
import { MemoryTaskStore } from '../../src/tasks/memory-store.js';
import { taskStoreCases } from '../../src/testing/index.js';

describe('the memory store of tasks, as every store', () => {
  it.each(taskStoreCases)('$name', async ({ run }) => {
    let now = 1_000;
    await run(async () => ({
      store: new MemoryTaskStore({ maxTasks: 100, now: () => now }),
      now: () => now,
      pass: async (ms) => void (now += ms),
    }));
  });

  it.concurrent.each(taskStoreCases)('$name (on the real clock)', async ({ run }) => {
    await run(async () => ({ store: new MemoryTaskStore({ maxTasks: 100, now: Date.now }) }));
  });
});
