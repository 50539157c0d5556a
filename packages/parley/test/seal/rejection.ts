import { StateRejected } from '../../src/errors.js';

/** The reason with which something was rejected; fails the test if it was not, or otherwise. */
export async function rejection(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof StateRejected) return error.reason;
    throw error;
  }
  return 'accepted';
}
