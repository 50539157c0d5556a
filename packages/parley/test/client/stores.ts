import { SavedFlowOutdated, type FlowStore, type SavedFlow } from '../../src/client/index.js';
import { CALL, URL_OF_SERVER } from './harness.js';

/** A call that waits for one form. */
export const FLOW: SavedFlow = {
  format: 'parley-flow',
  version: 1,
  id: '00000000-0000-4000-8000-000000000000',
  revision: 2,
  server: { url: URL_OF_SERVER, principal: null },
  request: CALL,
  round: 1,
  waits: 0,
  requestState: 'state-1',
  questions: [
    {
      key: 'q',
      kind: 'form',
      message: 'Name?',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
    },
  ],
  repeats: { digest: 'd', times: 1 },
  beganAt: 1_000_000,
  askedAt: 1_000_000,
};

/** A store of a test, and what it holds. */
export type MemoryStore = FlowStore & { saved: SavedFlow | undefined };

/** A store that keeps its contract, but for methods that fail or hang: those may pass on to what they stand for. */
export function memoryStore(
  saved?: SavedFlow,
  failing: (plain: FlowStore) => Partial<FlowStore> = () => ({}),
): MemoryStore {
  const requireThere = (previous: SavedFlow | null | undefined): void => {
    const there = store.saved;
    if (previous === undefined || there?.revision === previous?.revision) return;
    throw new SavedFlowOutdated(there === undefined ? 'nothing' : 'another revision');
  };
  const plain: FlowStore = {
    load: async () => store.saved,
    async save(flow, previous) {
      requireThere(previous);
      store.saved = flow;
    },
    async clear(previous) {
      requireThere(previous);
      store.saved = undefined;
    },
  };
  const store: MemoryStore = { ...plain, ...failing(plain), saved };
  return store;
}

/** For a store that does something else in place of saving some flows. */
export function insteadOfSaving(
  which: (flow: SavedFlow) => boolean,
  instead: () => Promise<never>,
): (plain: FlowStore) => Partial<FlowStore> {
  return (plain) => ({
    save: (flow, previous) => (which(flow) ? instead() : plain.save(flow, previous)),
  });
}

/** Whether a flow is saved because its second round leaves. */
export const isLeaving = (flow: SavedFlow): boolean => flow.round === 1 && flow.sentAt !== undefined;

/** Handlers of somebody who leaves what is asked to others. */
export const leaving = { form: () => Promise.reject(new Error('later')) };
