import { afterEach, describe, expect, it } from 'vitest';
import type { Severity } from '../../src/audit/attack.js';
import { ATTACKS } from '../../src/audit/attacks/index.js';
import { FAULTY_BINDINGS } from '../servers/faulty-bindings.js';
import { FAULTY_STATES } from '../servers/faulty-states.js';
import { startServer, type AuditedServer } from '../servers/harness.js';
import { auditTransfer, worstOf } from './auditing.js';
import { STATE_CAUGHT_BY } from './state-caught-by.js';

/** What else is found in servers that are faulty about their states, and why. */
const ALSO: Readonly<Record<string, Readonly<Record<string, Severity>>>> = {
  // A state too large is a bad one, and so is one whose arguments were changed.
  'crashes-on-bad-state': { 'state-oversized': 'low', 'arguments-unchecked': 'low' },
};

let running: AuditedServer | undefined;
afterEach(() => running?.close());

describe('a server that is faulty about its states only', () => {
  const others = ATTACKS.filter(({ id }) => !Object.hasOwn(STATE_CAUGHT_BY, id));

  it.each(Object.entries({ ...FAULTY_STATES, ...FAULTY_BINDINGS }))(
    '%s is not blamed for anything else',
    async (name, faults) => {
      running = await startServer(faults());
      expect(worstOf(await auditTransfer(running.url, others))).toEqual(ALSO[name] ?? {});
    },
  );
});
