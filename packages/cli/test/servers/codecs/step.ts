import { isFields } from '../harness/forms.js';
import type { Codec } from '../harness/state.js';

/** The number of the step to be done, and nothing else. */
export const stepCodec: Codec = {
  encode: ({ round }) => JSON.stringify({ step: round }),
  decode(text) {
    const round = stepIn(text);
    if (round === undefined) return undefined;
    const nobody = { method: '', name: '', digest: '', user: null };
    return { ...nobody, flow: crypto.randomUUID(), round, expires: Infinity, settled: {} };
  },
};

function stepIn(text: string): number | undefined {
  try {
    const state: unknown = JSON.parse(text);
    return isFields(state) && typeof state['step'] === 'number' ? state['step'] : undefined;
  } catch {
    return undefined;
  }
}
